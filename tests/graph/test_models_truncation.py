"""Servers that cut long requests in silence are noticed by what they report."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from loopwright import Agent, Settings, tool_policy
from loopwright.models import window_kept
from loopwright.settings import MemorySettings, ModelSettings, ToolSettings
from loopwright.state import Event, ModelEvent
from loopwright.testing import ModelEndpoint, call, reply

FAST = Settings(
    model=ModelSettings(retry_delay=0),
    tools=ToolSettings(retry_delay=0),
    memory=MemorySettings(summary=False),
    context_tokens=20_000,
)


def event(sent: int, reported: int, *, estimated: bool = False, place: int = 0, keeps: int | None = None) -> ModelEvent:
    """A model event with these tokens."""
    made: ModelEvent = {
        "run": "r", "step": 1, "at": 0.0, "seconds": 0.0, "kind": "model", "message_id": "m", "model": "x",
        "finish_reason": "stop", "request_tokens": sent,
        "parts": {"system": 0, "tools": 0, "summary": 0, "pinned": 0, "recent": sent},
        "tokens_in": reported, "tokens_out": 1, "cost_usd": None, "estimated": estimated, "retries": 0, "failure": None,
    }  # fmt: skip
    if place:
        made["place"] = place
    if keeps is not None:
        made["keeps"] = keeps
    return made


def test_a_window_shows_as_a_plateau() -> None:
    """A longer request that is reported as no more than another tells the window: the most that was reported."""
    first, second = event(6_000, 2_000), event(9_000, 2_048)
    assert window_kept([], first) is None
    assert window_kept([first], second) == 2_048
    assert window_kept([second], first) == 2_048
    assert window_kept([first, event(100, 90)], second) == 2_048


def test_what_grows_with_the_request_is_no_window() -> None:
    """A tokenizer that makes far fewer tokens reports more for a longer request; a like one says nothing new."""
    assert window_kept([event(6_000, 2_000)], event(9_000, 3_000)) is None
    assert window_kept([event(6_000, 2_000)], event(6_100, 2_010)) is None
    assert window_kept([event(6_000, 2_000), event(9_000, 3_000)], event(6_100, 2_010)) is None  # it was shortened


def test_what_is_known_is_kept_and_only_grows() -> None:
    """Later requests carry the window on; a larger report widens it, a smaller one does not narrow it."""
    known = event(9_000, 2_048, keeps=2_048)
    assert window_kept([known], event(1_900, 1_850)) == 2_048
    assert window_kept([known], event(9_000, 2_500)) == 2_500
    assert window_kept([known], event(9_000, 1_200)) == 2_048


def test_what_says_nothing_about_a_window() -> None:
    """Short requests, our own estimates, another model, and reports too small for any window are no sign."""
    short = event(6_000, 2_000)
    assert window_kept([short], event(1_400, 200)) is None
    assert window_kept([short], event(9_000, 2_048, estimated=True)) is None
    assert window_kept([short], event(9_000, 2_048, place=1)) is None
    assert window_kept([event(9_000, 30)], event(9_000, 40)) is None  # a server that leaves cached tokens out


@given(
    st.floats(0.05, 3.0),
    st.lists(st.tuples(st.integers(0, 60_000), st.floats(0.95, 1.05)), max_size=8),
)
def test_a_server_that_reports_what_was_sent_is_never_suspected(
    ratio: float, requests: list[tuple[int, float]]
) -> None:
    """Whatever its tokenizer and however requests grow and shrink, as long as its ratio varies by a twentieth."""
    events: list[Event] = []
    for sent, variation in requests:
        newest = event(sent, int(sent * ratio * variation) + 1)
        assert window_kept(events, newest) is None
        events.append(newest)


def test_a_run_on_such_a_server_is_told_and_kept_within_its_window() -> None:
    """The second time it is noticed: one notice in the report, and every later request fits what the server keeps."""

    @tool
    def read(page: int) -> str:
        """Read a page."""
        return "\n".join(f"page {page} line {n}: value {page * 1000 + n}" for n in range(120))

    script: list[Any] = [*(reply("", call("read", page=n)) for n in range(8)), "done"]
    with ModelEndpoint(script, silent_window=1_800) as endpoint:
        model = ChatOpenAI(model="any", base_url=endpoint.base_url, api_key=SecretStr("k"))
        agent = Agent(model, [tool_policy(read, effect="read")], settings=FAST)
        assert agent.run("Read on", thread="t").answer == "done"
    calls = [each.model for each in agent.report("t").runs[0].rounds if each.model]
    told = [place for place, model in enumerate(calls) if model.notices]
    assert len(told) == 1
    assert "1800" in calls[told[0]].notices[0]
    assert calls[told[0]].request_tokens > 3_600
    assert all(model.request_tokens <= 1_800 for model in calls[told[0] + 1 :])
    assert len(calls) == 9
