"""What a report says of a thread beyond its rounds: forks, its holder, how long it waited, each request's budget."""

import asyncio
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage
from langchain_core.tools import BaseTool, tool

from loopwright import Agent, RunReport, Settings, tool_policy
from loopwright.report import fold_report, totals_of
from loopwright.report.data import RunEntry
from loopwright.state import CallEvent, DecisionEvent, Event
from loopwright.testing import ScriptedModel, call, reply
from loopwright.threads import list_threads


def tools() -> list[BaseTool]:
    """A reading tool, and a writing one that asks."""

    @tool
    def look(at: str) -> str:
        """Look at something."""
        return f"saw {at}"

    @tool
    def pay(to: str) -> str:
        """Pay someone."""
        return f"paid {to}"

    return [tool_policy(look, effect="read"), tool_policy(pay, effect="write", approval=True)]


def agent_of(*script: Any, url: str = "memory:", **chosen: Any) -> Agent[Any]:
    """An agent that plays this script."""
    return Agent(ScriptedModel(list(script)), tools(), settings=Settings(**chosen), storage=url)


def newest(agent: Agent[Any], thread: str = "t") -> RunEntry:
    """The newest run of the thread, as its report has it."""
    return agent.report(thread).runs[-1]


def test_a_fork_is_reported_where_it_went_back(storage_url: str) -> None:
    """Checkpoint, step, and whether something was edited; the rounds of the way that was left are gone."""
    agent = agent_of(reply("", call("look", at="a")), "first", "second", url=storage_url)
    agent.run("x", thread="t")
    decided = [entry.checkpoint for entry in agent.history("t") if entry.node == "guard"]
    agent.fork("t", decided[2], edit="y")
    (fork,) = newest(agent).forks
    assert (fork.step, fork.checkpoint, fork.thread, fork.edited) == (1, decided[2], "t", True)
    assert newest(agent).status == "unfinished"
    agent.resume("t")
    run = newest(agent)
    assert (run.answer, len(run.rounds), run.forks) == ("second", 2, (fork,))


def test_forks_of_ends_and_of_inputs_belong_to_the_run_that_follows() -> None:
    """A new task behind an end, the input before any run, a new thread: the fork stands at step 0 or where it was."""
    agent = agent_of("first", "second", "third", "fourth")
    agent.run("x", thread="t")
    entries = agent.history("t")
    agent.fork("t", entries[-1].checkpoint, edit="more")
    agent.resume("t")
    assert [[fork.step for fork in run.forks] for run in agent.report("t").runs] == [[], [0]]
    agent.fork("t", entries[0].checkpoint)
    agent.resume("t")
    (run,) = agent.report("t").runs
    assert [(fork.step, fork.checkpoint, fork.edited) for fork in run.forks] == [(0, entries[0].checkpoint, False)]
    guard = next(entry.checkpoint for entry in entries if entry.node == "guard")
    agent.fork("t", guard, into="copy")
    agent.resume("copy")
    (run,) = agent.report("copy").runs
    assert [(fork.thread, fork.checkpoint) for fork in run.forks] == [("t", guard)]


def test_forks_of_langgraphs_own_api_are_reported_too(storage_url: str) -> None:
    """A run from an old checkpoint and an edit of one, as Studio makes them; an edit at its end is none."""
    agent = agent_of(reply("", call("look", at="a")), "first", "second", "third", url=storage_url)
    agent.run("x", thread="t")
    decided = [entry.checkpoint for entry in agent.history("t") if entry.node == "guard"]
    with agent.place.open() as storage:
        graph = agent.graph.copy(update={"checkpointer": storage.saver, "store": storage.store})
        head: Any = {"configurable": {"thread_id": "t"}}
        old: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": decided[2]}}
        graph.update_state(head, {"answer": "first, edited"}, "finish")
        assert newest(agent).forks == ()
        graph.invoke(None, old)
        (fork,) = newest(agent).forks
        assert (fork.step, fork.checkpoint, fork.thread, fork.edited) == (1, decided[2], "t", False)
        edit = graph.update_state(old, {"messages": [HumanMessage("y", id=str(uuid4()))]}, "call_model")
        graph.invoke(None, edit)
    assert [(each.checkpoint, each.edited) for each in newest(agent).forks] == [(decided[2], True)]
    assert newest(agent).answer == "third"
    assert asyncio.run(agent.areport("t")) == agent.report("t")


def test_a_report_says_who_holds_the_thread(storage_url: str) -> None:
    """While a run goes on its process is named and it reads running; left in the middle nobody holds it; then ended."""
    agent = agent_of(reply("", call("look", at="a")), "done", url=storage_url)
    stream = agent.stream("x", thread="t")
    held = []
    for item in stream:
        if isinstance(item, dict) and item["kind"] == "model":
            held.append((agent.report("t").holder, newest(agent).status))
            stream.cancel()
    ((holder, status),) = held
    assert holder is not None
    assert "process" in holder
    assert status == "running"
    assert (agent.report("t").holder, newest(agent).status) == (None, "unfinished")
    assert asyncio.run(agent.areport("t")) == agent.report("t")
    agent.resume("t")
    assert (agent.report("t").holder, newest(agent).status) == (None, "completed")


def test_a_thread_that_waits_is_paused() -> None:
    """An open question is no run left in the middle, whoever asks for the report."""
    agent = agent_of(reply("", call("pay", to="bob")), "done")
    agent.run("x", thread="t")
    assert newest(agent).status == "paused"


def test_each_model_call_has_its_budget() -> None:
    """What its request might take stands beside what it took."""
    agent = agent_of(reply("", call("look", at="a")), "done", context_tokens=5_000)
    agent.run("x", thread="t")
    budgets = [turn.model.budget for turn in newest(agent).rounds if turn.model]
    assert budgets == [5_000, 5_000]


def decided(at: float, go: Any, rungs: dict[str, Any] | None = None) -> DecisionEvent:
    """A decision at this time."""
    return {
        "run": "r", "step": 1, "at": at, "seconds": 0.0, "kind": "decision", "go": go, "policy": "", "reason": "",
        "rungs": rungs or {},
    }  # fmt: skip


def ran(at: float, call_id: str, seconds: float) -> CallEvent:
    """A call that ended at this time."""
    return {
        "run": "r", "step": 1, "at": at, "seconds": seconds, "kind": "call", "call_id": call_id, "tool": "look",
        "effect": "read", "signature": "", "digest": "", "status": "ok", "failure": None, "retries": 0, "ref": None,
        "edited_args": None,
    }  # fmt: skip


def test_what_an_approval_waited_is_not_what_the_tools_beside_it_took() -> None:
    """Asked at 10 beside a call that ran until 13, approved at 20, run for 2 seconds: 7 seconds of waiting."""
    rungs = {"a": "ask", "b": "run"}
    begun, ended = decided(10.0, "execute_tools", rungs), decided(22.1, "call_model")
    wave: list[Event] = [begun, ran(22.0, "a", 2.0), ran(13.0, "b", 3.0), ended]
    assert totals_of(wave).waiting_seconds == pytest.approx(7.0)
    assert totals_of(wave[:1]).waiting_seconds == 0.0


def test_budget_questions_and_extended_ends_are_waited_for() -> None:
    """From a question to its answer, and from a stop until someone let the run go on."""
    mark: Any = {"run": "r", "step": 1, "seconds": 0.0}
    answered: Any = {**mark, "at": 16.0, "kind": "pause", "question": "?", "extend": {"tokens": 9.0}}
    stop: Any = {**mark, "at": 30.0, "kind": "stop", "report": {}}
    extended: Any = {**mark, "at": 70.0, "kind": "begin", "delivery": "r", "extend": {"tokens": 99.0}}
    asked: list[Event] = [
        decided(10.0, "ask"),
        answered,
        decided(16.1, "finish"),
        stop,
        extended,
        decided(70.1, "call_model"),
    ]
    assert totals_of(asked).waiting_seconds == pytest.approx(46.0)
    another_task: Any = {**extended, "run": "s", "extend": None}
    assert totals_of([stop, another_task]).waiting_seconds == 0.0


BEGUN: Any = {"run": "r", "step": 0, "at": 0.0, "seconds": 0.0, "kind": "begin", "delivery": "r", "extend": None}
moments = st.floats(0, 100)
logs = st.lists(
    st.one_of(
        st.builds(decided, moments, st.sampled_from(["ask", "execute_tools", "finish"]),
                  st.dictionaries(st.sampled_from("ab"), st.sampled_from(["run", "ask"]))),
        st.builds(ran, moments, st.sampled_from("ab"), moments),
    )
)  # fmt: skip


@given(logs)
def test_waiting_is_never_negative_nor_longer_than_the_log(log: list[Event]) -> None:
    """Whatever the times, even of a clock that was set back: no report fails over it."""
    waited = totals_of(log).waiting_seconds
    assert 0.0 <= waited <= 100.0 * max(1, len(log))
    (run,) = fold_report("t", [BEGUN, *log], []).runs
    assert run.own_seconds >= 0.0


def test_the_list_of_threads_says_the_same(storage_url: str) -> None:
    """A run that goes on reads running, one left in the middle unfinished, as in their reports."""
    agent = agent_of(reply("", call("look", at="a")), "done", url=storage_url)
    stream = agent.stream("x", thread="t")
    listed = []
    for item in stream:
        if isinstance(item, dict) and item["kind"] == "model":
            listed += list_threads(agent.place)
            stream.cancel()
    listed += list_threads(agent.place)
    agent.resume("t")
    listed += list_threads(agent.place)
    assert [info.status for info in listed] == ["running", "unfinished", "completed"]


def test_a_call_without_an_outcome_is_open(storage_url: str) -> None:
    """What a run asked for and did not get before its process went is named; once it has an outcome, that is told."""
    gone: list[str] = []

    @tool
    def look(at: str) -> str:
        """Look at something."""
        if at == "c" and not gone:
            gone.append(at)
            raise KeyboardInterrupt
        return f"saw {at}"

    looks = [reply("", call("look", at="a")), reply("", call("look", at="b"), call("look", at="c"))]
    agent = Agent(ScriptedModel([*looks, "done"]), [tool_policy(look, effect="read")], storage=storage_url)
    with pytest.raises(KeyboardInterrupt):
        agent.run("x", thread="t")
    left = newest(agent)
    assert [each.status for each in left.rounds[0].calls] == ["ok"]
    assert [each.args for each in left.rounds[1].calls][-1] == {"at": "c"}
    unanswered = left.rounds[1].calls[-1]
    assert (unanswered.tool, unanswered.status, unanswered.result) == ("look", "open", None)
    assert left.totals.tool_calls == len([each for turn in left.rounds for each in turn.calls if each.status == "ok"])
    agent.resume("t")
    assert [each.status for turn in newest(agent).rounds for each in turn.calls] == ["ok"] * 3


def test_a_call_that_waits_for_a_person_is_open() -> None:
    """Until it is answered; the one beside it has run."""
    agent = agent_of(reply("", call("look", at="a"), call("pay", to="b")), "done")
    agent.run("x", thread="t")
    (asked,) = newest(agent).rounds
    assert {each.tool: each.status for each in asked.calls}["pay"] == "open"
    (pending,) = agent.pending("t")
    agent.resume("t", decisions={pending.id: {"type": "reject", "message": "no"}})
    assert {each.tool: each.status for each in newest(agent).rounds[0].calls} == {"look": "ok", "pay": "rejected"}


def failing_then(*script: Any) -> Agent[Any]:
    """An agent whose first request fails for good."""
    return agent_of(RuntimeError("down"), *script, model={"tries": 1})


def test_an_answered_question_waits_no_longer(storage_url: str) -> None:
    """While a process runs what was approved, the run is running, held, and nobody else can answer: nothing waits."""
    seen: list[RunReport] = []
    listed: list[str] = []

    @tool
    def pay(to: str) -> str:
        """Pay someone."""
        seen.append(agent.report("t"))
        listed.extend(each.status for each in list_threads(agent.place))
        return f"paid {to}"

    asks = tool_policy(pay, effect="write", approval=True)
    agent = Agent(ScriptedModel([reply("", call("pay", to="b")), "done"]), [asks], storage=storage_url)
    (asked,) = agent.run("x", thread="t").pending
    assert (newest(agent).status, len(agent.report("t").waiting)) == ("paused", 1)
    agent.resume("t", decisions={asked.id: {"type": "approve"}})
    (during,) = seen
    assert (during.runs[-1].status, during.waiting) == ("running", ())
    assert during.holder is not None
    assert listed == ["running"]
    assert [each.status for each in during.runs[-1].rounds[0].calls] == ["open"]


def test_a_run_that_goes_on_after_a_failure_waited_until_then() -> None:
    """Its failed end is no end any more; the time until someone resumed it is waiting, and no limits are new."""
    agent = failing_then("done")
    agent.run("x", thread="t")
    failed = newest(agent)
    agent.resume("t")
    run = newest(agent)
    ((step, limits, at),) = [(each.step, each.limits, each.at) for each in run.extensions]
    assert (failed.status, run.status, step, limits) == ("failed", "completed", 1, {})
    assert run.totals.waiting_seconds == pytest.approx(at - failed.ended, abs=1e-5)
    assert run.totals.waiting_seconds > 0


def test_limits_that_a_new_task_brings_extend_nothing() -> None:
    """A run that begins under limits of its own had not ended before, and nobody was waited for."""
    agent = agent_of("first", "second")
    agent.run("x", thread="t")
    list(agent.stream("y", thread="t", extend={"model_calls": 3}))
    report = agent.report("t")
    assert [run.extensions for run in report.runs] == [(), ()]
    assert (report.totals.waiting_seconds, report.runs[-1].limits["model_calls"]) == (0.0, 3)


def test_a_run_that_was_left_ends_with_what_it_did_itself() -> None:
    """A new task behind an open question closes its call: neither does the old run last until then, nor did it wait."""
    agent = agent_of(reply("", call("pay", to="b")), "done")
    agent.run("x", thread="t")
    asked = newest(agent)
    agent.run("y", thread="t")
    report = agent.report("t")
    left, done = report.runs
    assert (left.status, left.ended, left.rounds[0].calls[0].status) == ("unfinished", asked.ended, "not_run")
    assert (left.totals.waiting_seconds, report.totals.waiting_seconds) == (0.0, 0.0)
    assert left.ended < done.started


def test_a_fork_stands_between_what_was_before_and_after_it() -> None:
    """At one step a question may have been answered before the thread went back, and again since: their times tell."""
    agent = agent_of(reply("", call("look", at="1")), reply("", call("look", at="2")), "a", "b", max_model_calls=1,
                     on_limit="ask")  # fmt: skip
    (asked,) = agent.run("x", thread="t").pending
    agent.resume("t", decisions={asked.id: {"type": "edit", "args": {"model_calls": 2}}})
    entry = next(each for each in reversed(agent.history("t")) if each.node == "ask")
    agent.fork("t", entry.checkpoint)
    agent.resume("t")
    run = newest(agent)
    ((before, fork),) = [(pause.at, fork.at) for pause, fork in zip(run.pauses, run.forks, strict=True)]
    assert before < fork < run.ended


def test_forks_of_langgraphs_own_api_have_their_time() -> None:
    """The one of the checkpoint that was written for it."""
    agent = agent_of(reply("", call("look", at="a")), "first", "second")
    agent.run("x", thread="t")
    ended = newest(agent).ended
    old = [entry.checkpoint for entry in agent.history("t") if entry.node == "guard"][2]
    with agent.place.open() as storage:
        graph = agent.graph.copy(update={"checkpointer": storage.saver, "store": storage.store})
        graph.invoke(None, {"configurable": {"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": old}})
    run = newest(agent)
    (fork,) = run.forks
    assert ended <= fork.at <= run.ended
