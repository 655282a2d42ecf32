"""The tool `now`: a clock that is given, shown in a zone of the IANA list."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import available_timezones

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.tools import BaseTool, ToolException

from loopwright_tools.clock import now_tool


def clock() -> datetime:
    """A moment on Saturday, 14 March 2026."""
    return datetime(2026, 3, 14, 9, 26, 5, 999999, tzinfo=UTC)


@pytest.fixture
def now() -> BaseTool:
    """The tool with a clock that stands still."""
    return now_tool(clock)


@pytest.mark.parametrize(
    ("zone", "told"),
    [
        ("UTC", "2026-03-14 09:26:05 UTC (UTC, UTC+00:00, Saturday)"),
        ("Asia/Shanghai", "2026-03-14 17:26:05 CST (Asia/Shanghai, UTC+08:00, Saturday)"),
        ("Asia/Kolkata", "2026-03-14 14:56:05 IST (Asia/Kolkata, UTC+05:30, Saturday)"),
        ("America/New_York", "2026-03-14 05:26:05 EDT (America/New_York, UTC-04:00, Saturday)"),
        ("Pacific/Kiritimati", "2026-03-14 23:26:05 +14 (Pacific/Kiritimati, UTC+14:00, Saturday)"),
        (" Asia/Tokyo ", "2026-03-14 18:26:05 JST (Asia/Tokyo, UTC+09:00, Saturday)"),
    ],
)
def test_the_time_in_a_zone(now: BaseTool, zone: str, told: str) -> None:
    """Date, time, the zone's abbreviation, its name, the offset in hours and minutes, and the weekday."""
    assert now.invoke({"timezone": zone}) == told


def test_without_a_zone_it_is_utc(now: BaseTool) -> None:
    """The zone may be left out."""
    assert now.invoke({}) == now.invoke({"timezone": "UTC"})


def test_the_clock_may_run_in_any_zone() -> None:
    """The clock's own zone does not matter, but it has to have one."""
    elsewhere = now_tool(lambda: clock().astimezone(timezone(timedelta(hours=-9))))
    assert elsewhere.invoke({}).startswith("2026-03-14 09:26:05 UTC")
    with pytest.raises(ToolException, match="has no zone"):
        now_tool(lambda: clock().replace(tzinfo=None)).invoke({})


def test_the_systems_clock_is_the_default() -> None:
    """Without a clock of its own the tool tells the present."""
    before = datetime.now(UTC).replace(microsecond=0)
    told = datetime.strptime(now_tool().invoke({})[:19], "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
    assert before <= told <= datetime.now(UTC)


@pytest.mark.parametrize(
    ("zone", "suggestion"),
    [
        ("asia/shanghai", "Asia/Shanghai"),
        ("Shanghai", "Asia/Shanghai"),
        ("Asia/Shangai", "Asia/Shanghai"),
        ("America/New York", "America/New_York"),
        ("new york", "America/New_York"),
        ("Tokio", "Asia/Tokyo"),
        ("Europe/Tokyo", "Asia/Tokyo"),
    ],
)
def test_an_unknown_zone_is_answered_with_similar_ones(now: BaseTool, zone: str, suggestion: str) -> None:
    """Only IANA names are taken; case, blanks, a wrong continent or a slip of the pen get a suggestion."""
    with pytest.raises(ToolException, match=f"did you mean .*{suggestion}"):
        now.invoke({"timezone": zone})


@pytest.mark.parametrize(
    "zone", ["", "上海", "UTC+8", "../etc/localtime", "/etc/localtime", "\0", "x" * 10_000, "Beijing"]
)
def test_what_is_like_no_zone_gets_an_example(now: BaseTool, zone: str) -> None:
    """No path is taken for a zone, and the error is short."""
    with pytest.raises(ToolException, match="not the IANA name") as error:
        now.invoke({"timezone": zone})
    assert len(str(error.value)) < 300


@given(st.sampled_from(sorted(available_timezones())))
def test_each_zone_of_the_list_works(zone: str) -> None:
    """Every IANA zone tells the same moment."""
    told = now_tool(clock).invoke({"timezone": zone})
    local, offset = told[:19], told.split("UTC")[-1][:6]
    read = datetime.strptime(f"{local} {offset.replace(':', '')}", "%Y-%m-%d %H:%M:%S %z")
    assert abs(read - clock()) < timedelta(minutes=1)
