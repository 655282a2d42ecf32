"""What the guard does with the calls of a round: equal ones, limits on a wave, notes, languages, why it decided so."""

import runpy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool, ToolException

from loopwright import Agent, RunResult, Settings, Token, tool_policy
from loopwright.policies.same_error import SameError
from loopwright.settings import GuardSettings, ModelSettings, ToolSettings
from loopwright.state import DecisionEvent, Effect, Event
from loopwright.testing import RawCall, ScriptedModel, call, reply

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_policy.py"


def acting(effect: Effect, log: list[str], name: str = "act") -> BaseTool:
    """A tool of this effect that keeps what it did in `log`; at a place called nowhere it fails."""

    def act(at: str) -> str:
        log.append(at)
        if at.startswith("nowhere"):
            raise ToolException("no such place")
        return f"done {at}"

    return tool_policy(StructuredTool.from_function(act, name=name, description="Act."), effect=effect)


def played(
    replies: Sequence[str | AIMessage],
    offered: list[BaseTool],
    *,
    task: str = "x",
    policies: Any = None,
    **changes: Any,
) -> tuple[RunResult, list[Event]]:
    """The result of a run where nobody is asked, and its events."""
    given: dict[str, Any] = {"model": ModelSettings(retry_delay=0), "guard": GuardSettings(ask=False), **changes}
    agent = Agent(ScriptedModel(list(replies)), offered, settings=Settings(**given), policies=policies)
    stream = agent.stream(task)
    events = [item for item in stream if not isinstance(item, Token)]
    return stream.result, events


def said(result: RunResult) -> list[str]:
    """What each call was answered with, in order."""
    return [message.text for message in result.messages if isinstance(message, ToolMessage)]


def statuses(events: Sequence[Event]) -> list[str]:
    """What became of each call."""
    return [event["status"] for event in events if event["kind"] == "call"]


def decisions(events: Sequence[Event]) -> list[DecisionEvent]:
    """The guard's decisions."""
    return [event for event in events if event["kind"] == "decision"]


def equal(count: int, at: str = "a") -> AIMessage:
    """One reply with equal calls."""
    return reply("", *[call("act", at=at)] * count)


@pytest.mark.parametrize(
    ("effect", "ran", "expected"),
    [
        ("pure", 1, ["ok", "served"]),
        ("read", 2, ["ok", "ok"]),
        ("idempotent", 2, ["ok", "ok"]),
        ("write", 1, ["ok", "refused"]),
    ],
)
def test_two_equal_calls_of_one_message(effect: Effect, ran: int, expected: list[str]) -> None:
    """Each by its effect, and each is answered: a pure one is served, a write is not done twice, the others run."""
    log: list[str] = []
    result, events = played([equal(2), "ok"], [acting(effect, log)])
    assert len(log) == ran
    assert statuses(events) == expected
    assert len(said(result)) == 2
    assert effect != "pure" or said(result)[1].startswith("done a\n(act(")


def test_a_pure_call_that_failed_is_not_served_to_its_twin() -> None:
    """The second of two equal pure calls waits for the first, and is refused where that failed."""
    log: list[str] = []
    _, events = played([equal(2, "nowhere"), "ok"], [acting("pure", log)])
    assert (log, statuses(events)) == (["nowhere"], ["error", "refused"])


def test_a_third_equal_read_of_one_message_is_judged_by_what_the_others_brought() -> None:
    """Two run; the third is refused because they said the same, and runs where they did not."""
    log: list[str] = []
    result, events = played([equal(3), "ok"], [acting("read", log)])
    assert statuses(events) == ["ok", "ok", "refused"]
    assert "made 2 times (steps 1)" in said(result)[2]

    def count(at: str) -> str:
        log.append(at)
        return f"{len(log)} {at}"

    changing = tool_policy(StructuredTool.from_function(count, name="act", description="Count."), effect="read")
    _, events = played([equal(3), "ok"], [changing])
    assert statuses(events) == ["ok"] * 3


def many(count: int, tool: str = "act") -> list[RawCall]:
    """Calls that all differ."""
    return [call(tool, at=str(n)) for n in range(count)]


@pytest.mark.parametrize("effect", ["read", "write"])
def test_no_wave_runs_past_the_limit_of_tool_calls(effect: Effect) -> None:
    """Five calls of one message under a limit of two: two run, the others are answered, the reason is the limit."""
    log: list[str] = []
    result, events = played([reply("", *many(5)), "partly"], [acting(effect, log)], max_tool_calls=2)
    assert sorted(log) == ["0", "1"]
    assert statuses(events) == ["ok", "ok", "not_run", "not_run", "not_run"]
    assert result.stop is not None
    assert result.stop["reason"] == "tool_calls"


def test_no_wave_runs_past_the_limit_of_one_tool() -> None:
    """Five calls of one message of a tool that may run twice: two run, three are refused; another tool runs on."""
    log: list[str] = []
    both = [acting("read", log), acting("read", log, "other")]
    limited = ToolSettings(max_calls={"act": 2})
    result, events = played([reply("", *many(5), *many(1, "other")), "ok"], both, tools=limited)
    assert statuses(events) == ["ok", "ok", "refused", "refused", "refused", "ok"]
    assert "act has run 2 times" in said(result)[2]
    assert result.complete


def test_a_refused_call_takes_no_place_under_a_limit() -> None:
    """What the guard answers itself is not counted: the calls behind it still run."""
    log: list[str] = []
    first, second = reply("", call("act", at="nowhere")), reply("", call("act", at="nowhere"), call("act", at="a"))
    result, events = played([first, second, "ok"], [acting("read", log)], tools=ToolSettings(max_calls={"act": 2}))
    assert statuses(events) == ["error", "refused", "ok"]
    assert result.complete


def test_a_note_stands_behind_an_error_too() -> None:
    """The fourth failure under other arguments carries the note that three failed alike."""
    tries = [reply("", call("act", at=f"nowhere {n}")) for n in range(4)]
    result, _ = played([*tries, "gave up"], [acting("read", [])], policies=[SameError()])
    assert ["different arguments" in text for text in said(result)] == [False, False, False, True]
    assert said(result)[3].startswith("Error: no such place")


@pytest.mark.parametrize(
    ("task", "words"),
    [("what is there?", "fail again unchanged"), ("那里有什么?", "不改参数再次调用只会同样失败")],
)
def test_the_first_error_says_that_it_will_fail_again(task: str, words: str) -> None:
    """In the language of the user's last message."""
    result, _ = played([reply("", call("act", at="nowhere")), "ok"], [acting("read", [])], task=task)
    assert words in said(result)[0]


def test_a_transient_error_and_a_repeatable_tool_are_not_told_so() -> None:
    """Where a second try may help nothing is said against it."""

    def drop(at: str) -> str:
        raise ConnectionError("dropped")

    dropped = StructuredTool.from_function(drop, name="act", description="Drop.")
    poll = tool_policy(acting("read", []), repeatable=True)
    for tool in (tool_policy(dropped, effect="read", retries=0), poll):
        result, _ = played([reply("", call("act", at="nowhere")), "ok"], [tool])
        assert said(result)[0].startswith("Error: ")
        assert "fail again" not in said(result)[0]


def test_a_decision_about_single_calls_has_policy_and_reason() -> None:
    """Refused, served, noted, unreadable and unknown calls: the event says by which policy, and why."""
    failing = reply("", call("act", at="nowhere"))
    unknown = reply("", call("no_such_tool", at="a"))
    broken = reply("", call("act", raw='{"at": '), call("act", at="b"))
    _, events = played([failing, failing, unknown, broken, "ok"], [acting("read", [])])
    about = [(done["policy"], done["reason"]) for done in decisions(events) if done["rungs"] and done["policy"]]
    assert about == [
        ("repeated_failure", "this call failed before, unchanged"),
        ("call", "unknown tool"),
        ("call", "invalid reply"),
    ]
    blocked = [done for done in decisions(events) if "block" in done["rungs"].values()]
    assert blocked
    assert all(done["policy"] and done["reason"] for done in blocked)


def test_a_decision_about_several_calls_names_each_reason_once() -> None:
    """Two calls refused for one reason and one for another: two reasons."""
    first = reply("", call("act", at="nowhere"), call("act", at="nowhere 2"))
    twice = reply("", call("act", at="nowhere"), call("act", at="nowhere 2"), call("no_such_tool", at="a"))
    _, events = played([first, twice, "ok"], [acting("read", [])])
    reasons = [done["reason"] for done in decisions(events) if done["rungs"] and done["reason"]]
    assert reasons == ["this call failed before, unchanged; unknown tool"]


def test_the_users_next_message_starts_anew() -> None:
    """Counters, windows and refusals belong to a run: what was refused before runs again, and limits are fresh."""
    log: list[str] = []
    replies: list[str | AIMessage] = [equal(1), equal(1), equal(1), "one", equal(1), "two"]
    settings = Settings(guard=GuardSettings(ask=False), max_model_calls=4)
    agent = Agent(ScriptedModel(replies), [acting("read", log)], settings=settings)
    first = agent.run("x", thread="t")
    second = agent.run("and now?", thread="t")
    assert (first.complete, second.complete) == (True, True)
    assert log == ["a", "a", "a"]
    assert (first.usage.model_calls, second.usage.model_calls) == (4, 2)


def test_the_example_of_an_own_policy_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """examples/own_policy.py adds a policy in about twenty lines: three searches run, the others are refused."""
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    assert sum("three pages about" in line for line in lines) == 3
    assert sum("3 searches are enough" in line for line in lines) == 2
    assert "This is what I found." in lines[-1]
    source = EXAMPLE.read_text(encoding="utf-8")
    policy = source[source.index("@dataclass") : source.index("@tool")].strip().splitlines()
    assert len(policy) <= 20
