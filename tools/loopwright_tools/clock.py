"""The tool `now`: the date and time in a time zone."""

import difflib
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from langchain_core.tools import BaseTool, StructuredTool, ToolException
from pydantic import BaseModel, ConfigDict, Field

from loopwright import tool_policy

SUGGESTIONS = 3
"""Zones that an error suggests at most."""

# strftime's %A follows the locale of the process; the model should read the same everywhere.
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class NowArguments(BaseModel):
    """What now takes."""

    model_config = ConfigDict(extra="forbid")

    timezone: str = Field(default="UTC", description='IANA name of the time zone, such as "Asia/Shanghai" or "UTC".')


def utc_now() -> datetime:
    """The time of the system's clock."""
    return datetime.now(UTC)


def now_tool(clock: Callable[[], datetime] = utc_now) -> BaseTool:
    """The tool `now`; `clock` gives the time, with its zone: a datetime without one is refused at each call."""

    def now(timezone: str = "UTC") -> str:
        zone = _zone(timezone)
        instant = clock()
        if instant.utcoffset() is None:
            raise ToolException(
                "The clock of this tool is set up wrongly (its time has no zone): go on without the time."
            )
        return _told(instant.astimezone(zone), zone.key)

    tool = StructuredTool.from_function(
        now,
        description=(
            "Tell the current date, time, weekday and offset from UTC in one time zone. "
            'Use when the answer depends on now: "today", "this month", the time in a city (give that city\'s zone). '
            "Do not use for dates that stand in the task or in a file, nor to measure how long something takes. "
            "An error means that there is no zone of that name; it names similar ones to try."
        ),
        args_schema=NowArguments,
    )
    return tool_policy(tool, effect="read", repeatable=True, timeout=5)


def _zone(name: str) -> ZoneInfo:
    """The zone of exactly this name; looked up in the list, since ZoneInfo itself takes paths."""
    wanted = name.strip()
    if wanted in _names():
        return ZoneInfo(wanted)
    similar = _similar(wanted)
    hint = f"did you mean {' or '.join(similar)}?" if similar else 'use one such as "Asia/Shanghai" or "UTC".'
    raise ToolException(f"{wanted[:100]!r} is not the IANA name of a time zone: {hint}")


@cache
def _names() -> frozenset[str]:
    return frozenset(available_timezones())


def _similar(wanted: str) -> list[str]:
    """Zones whose whole name or city looks like the wanted one, case, blanks and the continent aside."""
    folded = wanted[:100].casefold().replace(" ", "_")
    by_folded = {name.casefold(): name for name in sorted(_names())}
    by_city = {folded.rpartition("/")[2]: name for folded, name in by_folded.items() if "/" in folded}
    city = folded.rpartition("/")[2]
    best = [names[key] for names, key in ((by_folded, folded), (by_city, city)) if key in names]
    best += [by_folded[match] for match in difflib.get_close_matches(folded, by_folded, n=SUGGESTIONS, cutoff=0.7)]
    best += [by_city[match] for match in difflib.get_close_matches(city, by_city, n=SUGGESTIONS, cutoff=0.8)]
    return list(dict.fromkeys(best))[:SUGGESTIONS]


def _told(local: datetime, zone: str) -> str:
    """The time as "2026-03-14 17:26:05 CST (Asia/Shanghai, UTC+08:00, Saturday)"."""
    offset = local.strftime("%z")
    hours = f"UTC{offset[:3]}:{offset[3:5]}"
    return f"{local:%Y-%m-%d %H:%M:%S} {local.tzname()} ({zone}, {hours}, {_WEEKDAYS[local.weekday()]})"
