"""The report: a pure fold of the event log, with texts from the transcript."""

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, tool

from loopwright import Agent, RunReport, Settings, tool_policy
from loopwright.report import fold_report, totals_of
from loopwright.settings import ModelSettings, ToolSettings
from loopwright.state import CallEvent, DecisionEvent, Event, ModelEvent, StopReport
from loopwright.testing import ScriptedModel, call, reply

FAST = Settings(model=ModelSettings(retry_delay=0), tools=ToolSettings(retry_delay=0))


def looking() -> BaseTool:
    """A reading tool that answers with its argument and knows one place that does not exist."""

    @tool
    def look(at: str) -> str:
        """Look at something."""
        if at == "nowhere":
            raise FileNotFoundError(at)
        return f"saw {at}"

    return tool_policy(look, effect="read")


def decision(step: int, go: Any, rungs: Any = None, reason: str = "") -> DecisionEvent:
    """A decision event."""
    return {
        "run": "r",
        "step": step,
        "at": 1.0,
        "seconds": 0.0,
        "kind": "decision",
        "go": go,
        "policy": "",
        "reason": reason,
        "rungs": rungs or {},
    }


def model(step: int) -> ModelEvent:
    """A model event of 10 tokens in and 2 out, at 0.01 USD."""
    return {
        "run": "r",
        "step": step,
        "at": 1.0,
        "seconds": 0.5,
        "kind": "model",
        "message_id": f"m{step}",
        "model": "x",
        "finish_reason": "tool_calls",
        "request_tokens": 10,
        "parts": {"system": 1, "tools": 2, "summary": 0, "pinned": 3, "recent": 4},
        "tokens_in": 10,
        "tokens_out": 2,
        "cost_usd": 0.01,
        "estimated": False,
        "retries": 0,
        "failure": None,
    }


def called(step: int, call_id: str, status: Any = "ok") -> CallEvent:
    """A call event of a quarter of a second."""
    return {
        "run": "r",
        "step": step,
        "at": 1.0,
        "seconds": 0.25,
        "kind": "call",
        "call_id": call_id,
        "tool": "look",
        "effect": "read",
        "signature": "s",
        "digest": "d",
        "status": status,
        "failure": None,
        "retries": 0,
        "ref": None,
        "edited_args": None,
    }


def log(rounds: int) -> tuple[list[Event], list[AnyMessage]]:
    """The log and the transcript of a run of so many rounds with one call each, four events a round."""
    events: list[Event] = [
        {"run": "r", "step": 0, "at": 1.0, "seconds": 0.0, "kind": "begin", "delivery": "r", "extend": None}
    ]
    messages: list[AnyMessage] = [HumanMessage("the task", id="in-r")]
    for n in range(1, rounds + 1):
        events += [
            decision(n - 1, "call_model"),
            model(n),
            decision(n, "execute_tools", {f"c{n}": "run"}),
            called(n, f"c{n}"),
        ]
        wish = [{"name": "look", "args": {"at": str(n)}, "id": f"c{n}", "type": "tool_call"}]
        messages += [
            AIMessage("let me look " * 50, id=f"m{n}", tool_calls=wish),
            ToolMessage("r" * 1500, tool_call_id=f"c{n}", id=f"result-c{n}"),
        ]
    return events, messages


def test_a_report_tells_what_happened_in_order() -> None:
    """Task, decisions, model calls, calls with arguments and results, the answer and the sums of a real run."""
    script: list[Any] = [reply("first", call("look", at="a"), call("look", at="nowhere")), "a is there"]
    agent = Agent(ScriptedModel(script), [looking()], settings=FAST)
    agent.run("what is there?", thread="t")
    report = agent.report("t")
    (run,) = report.runs
    assert (report.thread, run.number, run.task, run.status, run.answer) == (
        "t",
        1,
        "what is there?",
        "completed",
        "a is there",
    )
    first, last = run.rounds
    assert [(d.step, d.go) for d in first.decisions] == [(0, "call_model"), (1, "execute_tools")]
    assert [(d.go, d.reason) for d in last.decisions][-1] == ("finish", "the model answered without a call")
    assert first.model is not None
    assert (first.model.said, first.model.finish_reason) == ("first", "tool_calls")
    assert [(c.tool, c.args, c.status) for c in first.calls] == [
        ("look", {"at": "a"}, "ok"),
        ("look", {"at": "nowhere"}, "error"),
    ]
    assert first.calls[0].result == "saw a"
    assert first.calls[1].failure is not None
    assert (run.totals.model_calls, run.totals.tool_calls, run.totals.failed_calls) == (2, 2, 1)
    assert run.stop is not None
    assert run.stop["reason"] == "answered"


def test_runs_of_a_thread_are_numbered_and_summed() -> None:
    """Each new task is a run of its own; the thread's totals are the sums over its runs."""
    agent = Agent(ScriptedModel(["one", reply("", call("look", at="b")), "two"]), [looking()], settings=FAST)
    agent.run("first", thread="t")
    agent.run("second", thread="t")
    report = agent.report("t")
    assert [(run.number, run.task, run.answer) for run in report.runs] == [(1, "first", "one"), (2, "second", "two")]
    assert report.totals.model_calls == sum(run.totals.model_calls for run in report.runs) == 3
    assert report.totals.tokens_in == sum(run.totals.tokens_in for run in report.runs)


def test_an_extended_run_stays_one_run() -> None:
    """Going on under larger limits adds rounds to the same run and names the limits; the last stop counts."""
    script: list[Any] = [reply("", call("look", at="1")), "partial", reply("", call("look", at="2")), "all"]
    agent = Agent(ScriptedModel(script), [looking()], settings=FAST.model_copy(update={"max_model_calls": 1}))
    agent.run("x", thread="t")
    assert agent.report("t").runs[0].status == "stopped"
    agent.resume("t", extend={"model_calls": 9})
    (run,) = agent.report("t").runs
    assert (run.status, run.answer, len(run.rounds)) == ("completed", "all", 4)
    assert [(e.step, e.limits) for e in run.extensions] == [(2, {"model_calls": 9.0})]


def test_what_waits_is_in_the_report() -> None:
    """A paused run says so and names its questions."""
    settings = FAST.model_copy(update={"max_model_calls": 1, "on_limit": "ask"})
    agent = Agent(ScriptedModel([reply("", call("look", at="1"))]), [looking()], settings=settings)
    result = agent.run("x", thread="t")
    report = agent.report("t")
    assert (report.runs[-1].status, report.waiting) == ("paused", result.pending)


def test_refused_calls_show_why() -> None:
    """A call that the guard answered has its status, its rung in a decision, and the sentence the model read."""
    script = [reply("", call("look", at="x")) for _ in range(3)]
    agent = Agent(ScriptedModel([*script, "done"]), [looking()], settings=FAST)
    agent.run("x", thread="t")
    (run,) = agent.report("t").runs
    refused = run.rounds[2].calls[0]
    assert refused.status == "refused"
    assert refused.result is not None
    assert refused.result.startswith("Not run: look")
    assert any(d.rungs.get(refused.call_id) == "block" for turn in run.rounds for d in turn.decisions)
    assert run.totals.refused_calls == 1


def test_a_call_closed_by_a_later_run_belongs_to_the_round_that_asked_for_it() -> None:
    """`begin` answers calls that an earlier run left open; the report puts them where they were made."""
    events, messages = log(1)
    later: list[Event] = [
        {**called(0, "c1", "not_run"), "run": "r2"},
        {"run": "r2", "step": 0, "at": 2.0, "seconds": 0.0, "kind": "begin", "delivery": "r2", "extend": None},
    ]
    messages = [*messages[:2], HumanMessage("again", id="in-r2")]
    report = fold_report("t", [*events[:-1], *later], messages, holder="this process")
    first, second = report.runs
    assert [c.status for c in first.rounds[0].calls] == ["not_run"]
    assert (first.status, second.status, second.task, second.rounds) == ("unfinished", "running", "again", ())


def test_a_decision_without_its_model_call_is_kept() -> None:
    """Where the process died while the model was asked, the last round holds the decision and no model call."""
    events, messages = log(1)
    (run,) = fold_report("t", [*events, decision(1, "call_model", reason="go on")], messages).runs
    assert run.status == "unfinished"
    assert (run.rounds[-1].model, [d.reason for d in run.rounds[-1].decisions]) == (None, ["go on"])


def test_tasks_are_found_when_the_server_chose_the_ids() -> None:
    """Under LangGraph's server the user's message has an id of its own: the one before the first reply is the task."""
    events, messages = log(1)
    messages[0] = HumanMessage("from Studio", id="anything")
    assert fold_report("t", events, messages).runs[0].task == "from Studio"


def test_edited_arguments_are_those_that_ran() -> None:
    """A call that a person edited shows the edited arguments."""
    events, messages = log(1)
    events[-1] = {**called(1, "c1"), "edited_args": {"at": "elsewhere"}}
    (done,) = fold_report("t", events, messages).runs[0].rounds[0].calls
    assert (done.args, done.edited) == ({"at": "elsewhere"}, True)


@pytest.mark.parametrize(
    ("reason", "status"),
    [("answered", "completed"), ("repeat", "stopped"), ("auth", "failed"), ("model_error", "failed")],
)
def test_the_stop_reason_is_the_status(reason: Any, status: str) -> None:
    """A run is completed when answered, failed when the model's server failed, else stopped."""
    stop: StopReport = {
        "reason": reason,
        "complete": reason == "answered",
        "policy": "p",
        "step": 1,
        "call_id": None,
        "earlier_steps": [],
        "last_error": None,
        "counters": {},
        "advice": "",
    }
    events, messages = log(1)
    events.append({"run": "r", "step": 1, "at": 3.0, "seconds": 0.0, "kind": "stop", "report": stop})
    (run,) = fold_report("t", events, messages).runs
    assert (run.status, run.started, run.ended) == (status, 1.0, 3.0)


def test_totals_are_sums_of_events() -> None:
    """Tokens, USD and seconds add up; calls that did not run are counted apart."""
    events, _ = log(3)
    totals = totals_of([*events, called(3, "c9", "refused"), called(3, "c8", "error")])
    assert (totals.model_calls, totals.tool_calls, totals.refused_calls, totals.failed_calls) == (3, 4, 1, 1)
    assert (totals.tokens_in, totals.tokens_out, totals.model_seconds, totals.tool_seconds) == (30, 6, 1.5, 1.25)
    assert totals.cost_usd == pytest.approx(0.03)
    assert totals_of([]).cost_usd is None


@given(st.integers(min_value=0, max_value=12), st.integers(min_value=0, max_value=7))
def test_any_prefix_of_a_log_is_a_report(events_kept: int, messages_kept: int) -> None:
    """Whatever was written before a crash folds, counts every model call and call once, and survives JSON."""
    events, messages = log(3)
    kept = events[:events_kept]
    report = fold_report("t", kept, messages[:messages_kept])
    rounds = [turn for run in report.runs for turn in run.rounds]
    assert sum(turn.model is not None for turn in rounds) == sum(e["kind"] == "model" for e in kept)
    told = [each for turn in rounds for each in turn.calls if each.status != "open"]
    assert len(told) == sum(e["kind"] == "call" for e in kept)
    assert RunReport.model_validate(json.loads(json.dumps(report.model_dump(mode="json")))) == report


def test_four_hundred_rounds_fold_quickly() -> None:
    """1,601 events fold in under 50 ms (the best of five, since other processes share the machine)."""
    events, messages = log(400)

    def once() -> float:
        started = time.perf_counter()
        fold_report("t", events, messages)
        return time.perf_counter() - started

    assert min(once() for _ in range(5)) < 0.05


def test_limits_and_longer_texts_are_there_when_asked_for() -> None:
    """The limits stand in the newest run; texts are repeated up to as many characters as are wanted."""
    events, messages = log(1)
    (run,) = fold_report("t", events, messages, limits={"model_calls": 9.0}, characters=1_000).runs
    assert run.limits == {"model_calls": 9.0}
    assert (len(run.rounds[0].calls[0].result or ""), run.rounds[0].calls[0].result_characters) == (1_000, 1_500)
    assert len(fold_report("t", events, messages).runs[0].rounds[0].calls[0].result or "") == 400


def test_a_stuck_run_says_where_it_began() -> None:
    """The round of the first of the same calls is named beside the one where it was stopped; a plain limit has none."""
    script = [reply("", call("look", at="x")) for _ in range(6)]
    stuck = Agent(ScriptedModel([*script, "done"]), [looking()], settings=FAST)
    stuck.run("x", thread="t")
    (run,) = stuck.report("t").runs
    assert run.stuck is not None
    assert (run.stuck.step, run.stuck.began) == (5, 1)
    assert run.rounds[4].calls[0].call_id == run.stuck.call_id
    limited = Agent(
        ScriptedModel([*script, "done"]), [looking()], settings=FAST.model_copy(update={"max_model_calls": 1})
    )
    limited.run("x", thread="t")
    assert limited.report("t").runs[0].stuck is None


def test_a_limit_without_end_comes_back_from_json() -> None:
    """Somebody may have lifted a limit for good, and JSON has no number for that."""
    agent = Agent(ScriptedModel(["done"]))
    agent.run("x", thread="t", overrides={"max_seconds": float("inf")})
    report = agent.report("t")
    assert report.runs[0].limits["seconds"] == float("inf")
    assert RunReport.model_validate_json(report.model_dump_json()) == report


def test_another_version_of_the_shapes_is_refused() -> None:
    """The JSON names its version, and one of another version is not read as if it were this one."""
    events, messages = log(1)
    data = fold_report("t", events, messages).model_dump(mode="json")
    assert data["version"] == 1
    with pytest.raises(ValueError, match="version"):
        RunReport.model_validate({**data, "version": 2})


def moved(event: Any, at: float) -> Any:
    """The event at another time."""
    return {**event, "at": at}


def test_time_that_was_nobodys_work_is_our_own() -> None:
    """Between the first and the newest event lie model, tools, compressions and waiting; the rest is our own code.

    Calls that ran beside each other took their time together, and hide nothing of ours.
    """
    (begun, asked, replied, sent, _), messages = log(1)
    calls = [moved(called(1, f"c{n}"), 2.5) for n in range(4)]
    events = [
        begun,
        moved(asked, 1.25),
        moved(replied, 1.75),
        moved(sent, 2.0),
        *calls,
        moved(decision(1, "finish"), 2.75),
    ]
    (run,) = fold_report("t", events, messages).runs
    assert run.own_seconds == pytest.approx(1.75 - 0.5 - 0.25)
    assert (run.totals.tool_seconds, run.left_seconds) == (1.0, 0.0)


def test_time_in_which_no_process_ran_it_is_not_our_own() -> None:
    """A long gap in the log lies between a crash and its resume; our code takes no seconds between two steps."""
    events, messages = log(1)
    later = [moved(decision(1, "call_model"), 501.0), moved(model(2), 501.5)]
    (run,) = fold_report("t", [*events, *later], messages).runs
    assert run.left_seconds == pytest.approx(500.0)
    assert run.own_seconds < 0.01


def test_calls_that_could_not_run_are_not_counted_as_failed() -> None:
    """Where a reply names no tool or writes no arguments that can be read, no tool ran, so that none failed."""
    unreadable = reply("", call("look", raw="[]"), call("nowhere", at="x"), call("look", at="nowhere"))
    agent = Agent(ScriptedModel([unreadable, "done"]), [looking()], settings=FAST)
    agent.run("x", thread="t")
    (run,) = agent.report("t").runs
    assert [each.status for each in run.rounds[0].calls] == ["error"] * 3
    assert (run.totals.tool_calls, run.totals.failed_calls, run.totals.refused_calls) == (1, 1, 2)


def test_calls_stand_in_the_order_they_were_made() -> None:
    """Those that ran beside each other end in any order, and one that goes on is not put behind those that ended."""
    events, messages = log(1)
    made: list[Any] = [
        {"name": "look", "args": {}, "id": id, "type": "tool_call"} for id in ("first", "second", "third")
    ]
    messages = [messages[0], AIMessage("", id="m1", tool_calls=made)]
    told = fold_report("t", [*events[:-1], called(1, "third"), called(1, "second")], messages)
    assert [(c.call_id, c.status) for c in told.runs[0].rounds[0].calls] == [
        ("first", "open"),
        ("second", "ok"),
        ("third", "ok"),
    ]


def test_everything_has_its_time() -> None:
    """The unix time at which it was decided, answered or done; a call that goes on has none yet."""
    began = time.time()
    agent = Agent(ScriptedModel([reply("", call("look", at="a")), "done"]), [looking()], settings=FAST)
    agent.run("x", thread="t")
    (run,) = agent.report("t").runs
    first, last = run.rounds
    assert first.model is not None
    assert last.model is not None
    times = [run.started, first.decisions[0].at, first.model.at, first.calls[0].at or 0.0, last.model.at, run.ended]
    assert times == sorted(times)
    assert began <= times[0] <= times[-1] <= time.time()


def test_two_runs_of_one_id_are_two_runs() -> None:
    """A graph of one's own may be given the same run id again and again: its runs are not thrown together."""
    events, messages = log(2)
    twice = [*events, *events]
    first, second = fold_report("t", twice, messages).runs
    assert (first.id, first.number, second.id, second.number) == ("r", 1, "r", 2)
    assert [turn.step for turn in second.rounds] == [1, 2]
