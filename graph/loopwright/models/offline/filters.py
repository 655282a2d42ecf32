"""From the user's words and a table's columns to what read_table is asked: column, conditions, groups."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from loopwright.language import HAN
from loopwright.models.offline.listing import Table
from loopwright.models.offline.months import ENGLISH, Month, months_in, without_months
from loopwright.models.offline.paths import without_files

PREFERRED = (
    "amount", "total", "revenue", "sales", "turnover", "price", "value", "cost",
    "金额", "销售额", "总额", "营业额", "收入", "价格", "费用",
)  # fmt: skip
"""Columns taken first when the user names none."""

_BY = r"(?:\b(?:per|by|grouped by|for each|for every|which)\s+|每个?|各个?|按照?|哪个)"
_CHINESE = (
    ("销售额", ("sales", "revenue", "turnover", "amount")), ("金额", ("amount",)), ("收入", ("revenue",)),
    ("数量", ("units", "quantity", "count")), ("单价|价格", ("price",)), ("地区|区域", ("region",)),
    ("产品|商品", ("product",)), ("日期", ("date",)),
)  # fmt: skip
"""Chinese words for columns that have English names."""

_SIGNS = {
    ">=": r">=|at least|no less than|不少于|不低于|至少",
    "<=": r"<=|at most|no more than|不超过|不多于|至多",
    "!=": r"!=|≠|is not|不等于",
    ">": r">|over|above|more than|greater than|大于|超过|高于",
    "<": r"<|under|below|less than|fewer than|小于|低于|少于",
    "=": r"==?|equals?|等于",
}
_DATE_SIGNS = {"since": ">=", "from": ">=", "after": ">", "before": "<", "until": "<=", "on": "="}
_DATE = re.compile(rf"\b({'|'.join(_DATE_SIGNS)})\s+(\d{{4}}-\d{{2}}-\d{{2}})", re.I)
_VALUE = rf"[\"'“]?([\w{HAN}.-]+)"
_NO_VALUE = frozenset(
    {"is", "are", "in", "of", "and", "the", "for", "with", "where", "by", "per", "rows", "row", "column"}
)


@dataclass(frozen=True)
class Question:
    """What to ask read_table for, and which of the user's words went unused."""

    column: str | None
    chosen: bool
    where: tuple[str, ...]
    group_by: str | None
    every_year: bool
    unused: tuple[str, ...] = field(default=())


class NoDates(Exception):
    """A month was named, and no column holds dates or months that can be read."""


def question(asked: str, table: Table, *, needs_numbers: bool) -> Question:
    """The question to the table; raises NoDates when a month is named that no column can be filtered by.

    `column` is None where numbers are needed and none are there.
    """
    text = without_files(asked)
    month, every_year = _month(text, table)
    text = without_months(text)
    group_by, text = _group(text, table)
    conditions, text = _conditions(text, table)
    named = [column for column in table.columns if _names(column).search(text)]
    fitting = [column for column in named if table.kind(column) == "number" or not needs_numbers]
    column = fitting[0] if fitting else _preferred(table)
    for name in named:
        text = _names(name).sub(" ", text)
    where = (*month, *conditions)
    return Question(column, not fitting, where, group_by, every_year, tuple(_unused(text)))


def _names(column: str) -> re.Pattern[str]:
    """Where a text names the column; a plural counts, and the usual Chinese word."""
    if not column.isascii():
        return re.compile(re.escape(column))
    also = "".join(f"|{chinese}" for chinese, english in _CHINESE if column.lower() in english)
    return re.compile(rf"(?:(?<![A-Za-z0-9_]){re.escape(column)}s?(?![A-Za-z0-9_]){also})", re.I)


def _preferred(table: Table) -> str | None:
    numbers = [column for column in table.columns if table.kind(column) == "number"]
    rated = (column for word in PREFERRED for column in numbers if word in column.lower())
    return next(rated, numbers[0] if numbers else None)


def _month(text: str, table: Table) -> tuple[tuple[str, ...], bool]:
    """The condition for the month or year named, and whether it takes that month of every year."""
    months = months_in(text)
    year = re.search(r"\b(?:in|of|for|during)\s+((?:19|20)\d\d)\b|((?:19|20)\d\d)\s*年", text)
    dates = next((column for column in table.columns if table.kind(column) == "date"), None)
    if not months:
        return ((f"{dates} starts {year[1] or year[2]}",) if dates and year else ()), False
    names = next((column for column in table.columns if table.kind(column) == "month"), None)
    if dates is None and names is None:
        raise NoDates
    return _of_month(months[0], table, dates) if dates else ((_named_month(months[0], table, str(names)),), False)


def _of_month(month: Month, table: Table, dates: str) -> tuple[tuple[str, ...], bool]:
    years = {value[:4] for value in table.values(dates)}
    if month.year or (table.whole and len(years) == 1):
        return (f"{dates} starts {month.year or next(iter(years))}-{month.number:02}",), False
    return (f"{dates} contains -{month.number:02}-",), True


def _named_month(month: Month, table: Table, column: str) -> str:
    name = ENGLISH[month.number - 1]
    shown = next((value for value in table.values(column) if value.lower() in (name.lower(), name[:3].lower())), name)
    return f"{column} = {shown}"


def _group(text: str, table: Table) -> tuple[str | None, str]:
    for column in table.columns:
        pattern = re.compile(
            rf"{_BY}\s*{_names(column).pattern}",
            re.I,
        )
        if pattern.search(text):
            return column, pattern.sub(" ", text)
    return None, text


def _conditions(text: str, table: Table) -> tuple[list[str], str]:
    """Conditions by columns named with a comparison or value, then by values that stand alone; and the text left."""
    found, text = _dates(text, table)
    for column in table.columns:
        for pattern, condition in _patterns(column, table):
            if match := pattern.search(text):
                value = match[1].strip(" .,")
                if value.lower() in _NO_VALUE or value in table.columns:
                    continue
                found.append(condition.format(value=_as_shown(value, column, table)))
                text = pattern.sub(" ", text, count=1)
                break
    return found, text


def _dates(text: str, table: Table) -> tuple[list[str], str]:
    """Conditions on the first column of dates: "since 2026-03-05", "before ...", "on ..."."""
    column = next((column for column in table.columns if table.kind(column) == "date"), None)
    if column is None:
        return [], text
    found = [f"{column} {_DATE_SIGNS[match[1].lower()]} {match[2]}" for match in _DATE.finditer(text)]
    return found, _DATE.sub(" ", text)


def _patterns(column: str, table: Table) -> Iterator[tuple[re.Pattern[str], str]]:
    name = _names(column).pattern
    for sign, words in _SIGNS.items():
        value = _VALUE if sign in ("=", "!=") else r"(-?\d+(?:\.\d+)?)"
        yield re.compile(rf"{name}\s*(?:is|are|为|是)?\s*(?:{words})\s*{value}", re.I), f"{column} {sign} {{value}}"
    if table.kind(column) != "text":
        return
    equal = f"{column} = {{value}}"
    for value in sorted(set(table.values(column)), key=len, reverse=True):
        word = rf"(?<!\w)({re.escape(value)})(?!\w)" if value.isascii() else f"({re.escape(value)})"
        for around in (rf"{name}\s*(?:is|are|of|为|是|:)?\s*{word}", rf"{word}\s+{name}", word):
            yield re.compile(around, re.I), equal
    # a value that no shown row has is still a condition where the column's name leads it
    yield re.compile(rf"(?:for|where|with|in|from)\s+(?:the\s+)?{name}\s+(?:is\s+|of\s+)?{_VALUE}", re.I), equal
    yield re.compile(rf"{name}\s*(?:为|是)\s*{_VALUE}", re.I), equal


def _as_shown(value: str, column: str, table: Table) -> str:
    """The value in the spelling that the table shows."""
    return next((shown for shown in table.values(column) if shown.lower() == value.lower()), value)


_USED = re.compile(
    r"\b(?:what|which|is|are|was|were|the|a|an|of|in|for|with|where|whose|from|to|on|at|and|or|me|my|us|you|your|"
    r"please|could|can|would|tell|give|show|how|many|much|add|adding|up|together|sum|total|totals|average|mean|count|number|minimum|maximum|min|max|smallest|lowest|"
    r"least|largest|highest|biggest|greatest|most|rows?|lines?|entries|entry|records?|columns?|table|file|only|all|"
    r"values?|calculate|compute|get|find|take|read|open|look|there|have|has|does|do|that|this|these|those|it|its|then|by|per|each|over)\b"
    r"|加起来|加总|求和|合计|总和|总计|总额|总数|相加|一共|累计|平均值?|平均数|最[大小高低多少]值?|多少|行数|条数|"
    r"请|帮我|把|将|从|在|里面?|中|的|行|条|笔|列|数据|所有|全部|是|为|有|几|和|读取|打开|计算|统计|求|告诉我|算|一下|看看?|再|然后|顺便|年|份",
    re.I,
)


def _unused(text: str) -> list[str]:
    """Words that may have been meant as a condition and were not understood: two letters or characters, or a number."""
    return re.findall(rf"[A-Za-z][\w'-]+|\d[\d.-]*|[{HAN}]{{2,}}", _USED.sub(" ", text))
