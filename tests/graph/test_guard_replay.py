"""benchmarks/guard_replay.py: what it counts, that the graph does the same, and what recorded successes suffer."""

import importlib.util
import json
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage
from langchain_core.tools import ToolException, tool

from loopwright import Settings, build_graph, tool_policy
from loopwright.testing import ScriptedModel, call, reply

Round: TypeAlias = Sequence[tuple[str, str, bool]]
"""Calls of one reply: the argument, the recorded result, whether it was an error."""


def _loaded() -> ModuleType:
    path = Path(__file__).parents[2] / "benchmarks" / "guard_replay.py"
    spec = importlib.util.spec_from_file_location("guard_replay", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


guard_replay = _loaded()


def recording(*runs: Sequence[Round]) -> Any:
    """A recorded thread in which each run begins with a user message and calls `look` round by round."""
    messages: list[dict[str, Any]] = []
    for rounds in runs:
        messages.append({"role": "user", "content": "look around"})
        for calls in rounds:
            named = [(f"call{len(messages)}_{n}", *one) for n, one in enumerate(calls)]
            asked = [
                {"id": name, "function": {"name": "look", "arguments": json.dumps({"at": at})}}
                for name, at, _, _ in named
            ]
            messages.append({"role": "assistant", "content": "", "tool_calls": asked})
            messages += [
                {"role": "tool", "tool_call_id": name, "content": text, "error": error}
                for name, _, text, error in named
            ]
    return {"id": "made", "success": True, "messages": messages}


FAILURES = [[(str(n), f"no {n}", True)] for n in range(5)]
FURTHER = [[("further", "there", False)]]


def test_a_close_counts_only_before_a_further_call() -> None:
    """Five error rounds close a run that goes on; at its end, or before the user's next message, they close nothing."""
    assert guard_replay.replay(recording([*FAILURES, *FURTHER])).closed_by == "error_rounds"
    assert guard_replay.replay(recording(FAILURES)).closed_by == ""
    assert guard_replay.replay(recording(FAILURES, FURTHER)).closed_by == ""


@pytest.mark.parametrize(("second", "harmed"), [("no such place", False), ("it is here now", True)])
def test_a_refusal_harms_when_the_recorded_result_is_new(second: str, harmed: bool) -> None:
    """The second try of a failed call is refused; that harms only where it brought something else when recorded."""
    made = recording([[("a", "no such place", True)], [("a", second, second == "no such place")]])
    replayed = guard_replay.replay(made)
    assert (replayed.blocked, replayed.harmed, replayed.closed_by) == (True, harmed, "")


def test_a_refused_result_stays_unseen_by_the_policies() -> None:
    """The recorded success of a refused call does not lift the refusal of its next try."""
    made = recording([[("a", "no", True)], *[[("a", "yes", False)]] * 4])
    assert guard_replay.replay(made).closed_by == "insistence"


def in_the_graph(rounds: Sequence[Round]) -> tuple[bool, str]:
    """The same recording played by a scripted model to the real graph: whether it refused, which policy closed it."""
    replies = [reply("", *[call("look", at=at) for at, _, _ in calls]) for calls in rounds]
    results: dict[str, tuple[str, bool]] = {}
    played = iter(zip(replies, rounds, strict=True))

    def next_reply(messages: list[Any]) -> Any:
        message, calls = next(played, ("the end", ()))
        results.update({at: (text, error) for at, text, error in calls})
        return message

    @tool
    def look(at: str) -> str:
        """Look at something."""
        text, error = results[at]
        if error:
            raise ToolException(text)
        return text

    graph = build_graph(ScriptedModel(next_reply), [tool_policy(look, effect="read")], Settings())
    config: Any = {"recursion_limit": 1_000}
    statuses: dict[str, str] = {}
    closed_by = ""
    for event in graph.stream({"messages": [HumanMessage("look around")]}, config, stream_mode="custom"):
        if event["kind"] == "call":
            statuses.setdefault(event["call_id"], event["status"])  # what became of the call first
        elif event["kind"] == "stop":
            closed_by = event["report"]["policy"]
    return "refused" in statuses.values(), closed_by if "not_run" in statuses.values() else ""


one_call = st.tuples(st.sampled_from("abc"), st.sampled_from(["no", "yes"]), st.booleans())
one_round = st.lists(one_call, min_size=1, max_size=2, unique_by=lambda made: made[0])


@settings(max_examples=60, deadline=None)
@given(st.lists(one_round, min_size=1, max_size=14))
def test_the_graph_does_what_the_replay_says(rounds: list[Round]) -> None:
    """For any recording the graph refuses and closes exactly where the replay does."""
    replayed = guard_replay.replay(recording(rounds))
    assert (replayed.blocked, replayed.closed_by) == in_the_graph(rounds)


def test_recorded_successes_are_left_alone() -> None:
    """In the first 20 runs of every source no success is closed, and no result that was new is withheld from one."""
    sources = sorted(guard_replay.FOLDER.glob("*.jsonl"))
    if not sources:
        pytest.skip(f"{guard_replay.FOLDER} holds no recorded runs")
    runs = [guard_replay.replay(recorded) for path in sources for recorded in guard_replay.recordings(path, 20)]
    successes = [run for run in runs if run.success]
    assert successes
    assert [run for run in successes if run.closed_by or run.harmed] == []
    assert any(run.closed_by for run in runs if run.success is False)
