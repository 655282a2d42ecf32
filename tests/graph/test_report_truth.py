"""What a report says beside what happened: random lives of a thread whose model and tools keep their own books."""

import time
from collections import defaultdict
from typing import Annotated, Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.tools import BaseTool, InjectedToolCallId, tool

from loopwright import Agent, RunReport, Settings, tool_policy
from loopwright.errors import UsageError
from loopwright.pending import Pending
from loopwright.report import CallReport, RunEntry
from loopwright.settings import ModelSettings, ToolSettings
from loopwright.testing import ScriptedModel, call, reply
from loopwright.transcript import all_calls

HOWS = ("a", "b", "fails", "flaky", "dies", "中文")
ANSWERS: dict[str, dict[str, Any]] = {
    "approve": {"type": "approve"},
    "edit": {"type": "edit", "args": {"how": "edited"}},
    "reject": {"type": "reject", "message": "no"},
    "respond": {"type": "respond", "message": "I did it myself"},
}


class World:
    """The model and the tools of a thread, with their own books: what was asked, and what ran with which arguments."""

    def __init__(self, replies: list[Any]) -> None:
        self.replies = list(replies)
        self.forked = False
        self.ran: dict[str, list[str]] = defaultdict(list)
        self.began = time.time()

    def ask(self, _: list[BaseMessage]) -> Any:
        """The next reply, or the end."""
        return self.replies.pop(0) if self.replies else "the end"

    def act(self, how: str, call_id: str) -> str:
        """What every tool does: it ends as its argument says."""
        self.ran[call_id].append(how)
        first = len(self.ran[call_id]) == 1
        if how == "fails":
            raise ValueError("it fails")
        if how == "flaky" and first:
            raise ConnectionError("once")
        if how == "dies" and first:
            raise KeyboardInterrupt
        return f"result of {how} for {call_id}"

    def tools(self) -> list[BaseTool]:
        """One that reads, one that writes, and one that asks before it writes."""

        @tool
        def look(how: str, call_id: Annotated[str, InjectedToolCallId]) -> str:
            """Look."""
            return self.act(how, call_id)

        @tool
        def put(how: str, call_id: Annotated[str, InjectedToolCallId]) -> str:
            """Put."""
            return self.act(how, call_id)

        @tool
        def pay(how: str, call_id: Annotated[str, InjectedToolCallId]) -> str:
            """Pay."""
            return self.act(how, call_id)

        return [
            tool_policy(look, effect="read"),
            tool_policy(put, effect="write"),
            tool_policy(pay, effect="write", approval=True),
        ]


class Life:
    """A thread that is run, answered, resumed and forked; after and during each of that its report is checked."""

    def __init__(self, replies: list[Any], on_limit: Any) -> None:
        self.world = World(replies)
        chosen = Settings(
            max_model_calls=5,
            on_limit=on_limit,
            model=ModelSettings(retry_delay=0, tries=2),
            tools=ToolSettings(retry_delay=0),
        )
        self.agent: Agent[Any] = Agent(ScriptedModel(self.world.ask), self.world.tools(), settings=chosen)
        self.died = False

    def go(self, **given: Any) -> None:
        """Run or resume, and look at the report while it goes on: what it said stays true."""
        before: RunReport | None = None
        self.died = False
        try:
            for item in self.agent.stream(thread="t", **given):
                if isinstance(item, dict) and item["kind"] in ("model", "decision"):
                    now = self.agent.report("t")
                    assert_grew(before, now)
                    before = now
        except KeyboardInterrupt:
            self.died = True
        except UsageError:  # nothing to extend
            return
        assert_grew(before, self.agent.report("t"))
        self.check()

    def move(self, move: str) -> None:
        """The next thing that happens to the thread; one whose process died is resumed first, or gets a new task."""
        pending = self.agent.pending("t")
        if move == "task":
            self.go(input="another task")
        elif self.died or move == "resume":
            self.go()
        elif move == "extend":
            self.go(extend={"model_calls": 9})
        elif move == "fork":
            entries = [each for each in self.agent.history("t") if each.node == "guard"]
            if entries:
                self.world.forked = True
                self.agent.fork("t", entries[len(entries) // 2].checkpoint)
                self.check()
                self.go()
        elif pending:
            self.go(decisions={each.id: _answer(each, move) for each in pending})

    def check(self) -> None:
        """The report against the transcript, and against the books of the model and the tools."""
        report = self.agent.report("t")
        assert RunReport.model_validate_json(report.model_dump_json()) == report
        assert report.runs[-1].status == ("paused" if self.agent.pending("t") else report.runs[-1].status)
        assert [run.number for run in report.runs] == list(range(1, len(report.runs) + 1))
        for run in report.runs:
            check_run(run, self.world)
        for name in ("model_calls", "tool_calls", "failed_calls", "refused_calls", "tokens_in", "tokens_out"):
            assert getattr(report.totals, name) == sum(getattr(run.totals, name) for run in report.runs)
        spent = sum(run.totals.waiting_seconds for run in report.runs)
        assert abs(report.totals.waiting_seconds - spent) < 1e-6
        self.check_replies(report)

    def check_replies(self, report: RunReport) -> None:
        """Each reply in the transcript has its round, and its calls stand there in its order, each once."""
        with self.agent.place.open() as storage:
            graph = self.agent.graph.copy(update={"checkpointer": storage.saver, "store": storage.store})
            messages = graph.get_state({"configurable": {"thread_id": "t"}}).values["messages"]
        made = [each for each in messages if isinstance(each, AIMessage) and not (each.id or "").startswith("answer-")]
        told = [turn for run in report.runs for turn in run.rounds if turn.model and turn.model.message_id]
        assert [turn.model and turn.model.message_id for turn in told] == [each.id for each in made]
        for turn, message in zip(told, made, strict=True):
            assert [each.call_id for each in turn.calls] == [each["id"] for each in all_calls(message)]


def _answer(asked: Pending, wanted: str) -> dict[str, Any]:
    if asked.kind == "budget":
        return {"type": "approve" if wanted in ("approve", "edit") else "reject", "message": "no"}
    return ANSWERS[wanted]


def check_run(run: RunEntry, world: World) -> None:
    """Its rounds are counted, its calls told as they ran, its sums those of its rounds, its seconds within its time."""
    assert [turn.step for turn in run.rounds] == list(range(1, len(run.rounds) + 1))
    calls = [each for turn in run.rounds for each in turn.calls]
    for each in calls:
        check_call(each, world.ran[each.call_id], forked=world.forked)
    assert run.totals.model_calls == sum(turn.model is not None for turn in run.rounds)
    assert run.totals.failed_calls <= run.totals.tool_calls
    done = [each for each in calls if each.status not in ("open", "served")]
    assert run.totals.tool_calls + run.totals.refused_calls == len(done)
    if run.stop is not None:
        counters = run.stop["counters"]
        told = (run.totals.model_calls, run.totals.tool_calls, run.totals.tokens_in + run.totals.tokens_out)
        assert told == (counters["model_calls"], counters["tool_calls"], counters["tokens"])
        assert run.answer
        assert run.status in ("completed", "stopped", "failed")
    totals = run.totals
    one_by_one = totals.model_seconds + totals.compression_seconds + totals.waiting_seconds
    assert one_by_one + run.own_seconds + run.left_seconds <= run.ended - run.started + 0.01
    assert world.began <= run.started <= run.ended <= time.time()
    assert all(run.started <= turn.model.at <= run.ended for turn in run.rounds if turn.model)


def check_call(told: CallReport, ran: list[str], *, forked: bool) -> None:
    """A call that did not run has no execution, or is told as one that may have; one that did ran with these arguments.

    In a forked thread both may differ: the books also hold what was done on the way that was left.
    """
    if told.status in ("refused", "rejected", "not_run", "served"):
        assert ran == [] or forked or "nobody knows whether it did" in (told.result or "")
    if told.status == "ok" and ran and not forked:
        assert told.args == {"how": ran[-1]}
        assert told.edited is (ran[-1] == "edited")
    if told.failure and told.failure["kind"] in ("unknown_tool", "invalid_reply"):
        assert ran == []
    assert (told.result is None, told.at is None) == (told.status == "open", told.status == "open")


def assert_grew(before: RunReport | None, after: RunReport) -> None:
    """What was told while it went on is the beginning of what is told later."""
    if before is None:
        return
    assert [run.id for run in before.runs] == [run.id for run in after.runs[: len(before.runs)]]
    for then, now in zip(before.runs, after.runs, strict=False):
        for earlier, later in zip(then.rounds, now.rounds[: len(then.rounds)], strict=True):
            assert earlier.decisions == later.decisions[: len(earlier.decisions)]
            assert earlier.model in (None, later.model)
            known = {each.call_id: each for each in later.calls}
            assert all(each.status == "open" or known[each.call_id] == each for each in earlier.calls)
        assert then.forks == now.forks[: len(then.forks)]


calls = st.builds(
    lambda name, how: call(name, how=how),
    st.sampled_from(["look", "look", "look", "put", "pay", "no_such_tool"]),
    st.sampled_from(HOWS) | st.integers(0, 99).map(str),
) | st.builds(lambda raw: call("look", raw=raw), st.sampled_from(["[]", '{"how": ', "null"]))
replies = st.builds(lambda made: reply("I act.", *made, usage=(20, 5)), st.lists(calls, min_size=1, max_size=3))
failures = st.sampled_from([ConnectionError("net"), RuntimeError("for good")])
scripts = st.lists(replies | replies | replies | st.sampled_from(["an answer", ""]) | failures, max_size=9)
moves = st.sampled_from([*ANSWERS, *ANSWERS, "resume", "task", "extend", "fork"])


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(scripts, st.lists(moves, max_size=4), st.sampled_from(["close", "ask"]))
def test_a_report_tells_what_happened(script: list[Any], then: list[str], on_limit: str) -> None:
    """Whatever becomes of a thread: its report agrees with the books of its model and tools, and its transcript."""
    life = Life(script, on_limit)
    life.go(input="a task")
    for move in then:
        life.move(move)
