"""Cities with their IANA time zones, under their English and Chinese names."""

import re
from typing import NamedTuple

from loopwright.language import HAN


class Place(NamedTuple):
    """A place as the user wrote it, and the zone to ask the clock for."""

    name: str
    zone: str


_CITIES = """
Shanghai 上海 Asia/Shanghai | Beijing 北京 Asia/Shanghai | Shenzhen 深圳 Asia/Shanghai | Guangzhou 广州 Asia/Shanghai
Hangzhou 杭州 Asia/Shanghai | Chengdu 成都 Asia/Shanghai | Urumqi 乌鲁木齐 Asia/Urumqi | Hong_Kong 香港 Asia/Hong_Kong
Taipei 台北 Asia/Taipei | Tokyo 东京 Asia/Tokyo | Osaka 大阪 Asia/Tokyo | Seoul 首尔 Asia/Seoul
Singapore 新加坡 Asia/Singapore | Bangkok 曼谷 Asia/Bangkok | Hanoi 河内 Asia/Bangkok | Jakarta 雅加达 Asia/Jakarta
Manila 马尼拉 Asia/Manila | Delhi 德里 Asia/Kolkata | Mumbai 孟买 Asia/Kolkata | Dubai 迪拜 Asia/Dubai
Istanbul 伊斯坦布尔 Europe/Istanbul | Moscow 莫斯科 Europe/Moscow | Cairo 开罗 Africa/Cairo
Nairobi 内罗毕 Africa/Nairobi
Lagos 拉各斯 Africa/Lagos | Johannesburg 约翰内斯堡 Africa/Johannesburg | London 伦敦 Europe/London
Paris 巴黎 Europe/Paris | Berlin 柏林 Europe/Berlin | Madrid 马德里 Europe/Madrid | Rome 罗马 Europe/Rome
Zurich 苏黎世 Europe/Zurich | Vienna 维也纳 Europe/Vienna | Stockholm 斯德哥尔摩 Europe/Stockholm
Amsterdam 阿姆斯特丹 Europe/Amsterdam | New_York 纽约 America/New_York | Boston 波士顿 America/New_York
Chicago 芝加哥 America/Chicago | Denver 丹佛 America/Denver | Los_Angeles 洛杉矶 America/Los_Angeles
San_Francisco 旧金山 America/Los_Angeles | Seattle 西雅图 America/Los_Angeles | Toronto 多伦多 America/Toronto
Vancouver 温哥华 America/Vancouver | Mexico_City 墨西哥城 America/Mexico_City | Sao_Paulo 圣保罗 America/Sao_Paulo
Buenos_Aires 布宜诺斯艾利斯 America/Argentina/Buenos_Aires | Sydney 悉尼 Australia/Sydney
Melbourne 墨尔本 Australia/Melbourne | Auckland 奥克兰 Pacific/Auckland | Honolulu 檀香山 Pacific/Honolulu
"""

ZONES: dict[str, str] = {
    name.replace("_", " ").lower(): zone
    for entry in re.split(r"[|\n]", _CITIES)
    if entry.strip()
    for english, chinese, zone in [entry.split()]
    for name in (english, chinese)
}
"""Zone by a city's lower-case English or Chinese name."""

_ZONE = re.compile(r"\b(?:[A-Z][A-Za-z]+(?:/[A-Z][A-Za-z_]+){1,2}|UTC|GMT)\b")
_KNOWN = re.compile("|".join(rf"\b{n}\b" if n.isascii() else n for n in sorted(ZONES, key=len, reverse=True)), re.I)
_UNKNOWN = re.compile(
    rf"\bin\s+((?:[A-Z][\w'-]+\s?)+)|(?:在|现在)?([{HAN}]{{2,6}}?)(?:现在|此刻|当前|是)*(?:几点|的?时间)"
)
_FILLERS = re.compile("^(?:请问|现在|在|此刻|当前|那边|这里|今天)+|(?:现在|此刻|当前|是)+$")


def places_in(text: str) -> tuple[Place, ...]:
    """The places a question about the time names, in order; one that no table knows is passed on as it was written."""
    found: list[tuple[int, Place]] = [(m.start(), Place(m.group(), m.group())) for m in _ZONE.finditer(text)]
    rest = _ZONE.sub(lambda match: " " * len(match.group()), text)
    found += [(m.start(), Place(m.group(), ZONES[m.group().lower()])) for m in _KNOWN.finditer(rest)]
    if not found and (unknown := _UNKNOWN.search(rest)):
        name = _FILLERS.sub("", (unknown.group(1) or unknown.group(2)).strip())
        found += [(unknown.start(), Place(name, name.replace(" ", "_")))] if name else []
    return tuple(place for _, place in sorted(found))
