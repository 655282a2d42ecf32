"""A new task after a crash, with crashes around each write of checkpointer and journal: nothing is lost or doubled."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.store.base import BaseStore, Op, Result

from loopwright import Agent, tool_policy
from loopwright.storage import Storage
from loopwright.storage.memory import MemoryPlace
from loopwright.testing import ScriptedModel, call, reply


class Killed(BaseException):
    """The process has ended: every later call of its storage raises it too."""


class Moments:
    """Counts down to the moment at which the process ends; 0 is never."""

    def __init__(self, left: int) -> None:
        self.left = left

    def tick(self) -> None:
        """One moment has come. Raises Killed at the chosen one, and from then on."""
        if self.left == 1:
            raise Killed
        self.left -= self.left > 0


class MortalSaver(BaseCheckpointSaver[Any]):
    """A checkpointer with a moment before and after each write of another one."""

    def __init__(self, inner: BaseCheckpointSaver[Any], moments: Moments) -> None:
        super().__init__(serde=inner.serde)
        self.inner, self.moments = inner, moments
        for name in ("get_tuple", "list", "get_next_version", "get_delta_channel_history"):
            setattr(self, name, getattr(inner, name))

    def put(self, *args: Any, **kwargs: Any) -> Any:
        """Write a checkpoint."""
        return self._between(self.inner.put, *args, **kwargs)

    def put_writes(self, *args: Any, **kwargs: Any) -> None:
        """Write what tasks brought."""
        self._between(self.inner.put_writes, *args, **kwargs)

    def _between(self, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        self.moments.tick()
        done = work(*args, **kwargs)
        self.moments.tick()
        return done


class MortalStore(BaseStore):
    """A store with a moment before and after each batch of another one."""

    def __init__(self, inner: BaseStore, moments: Moments) -> None:
        self.inner, self.moments = inner, moments

    def batch(self, ops: Any) -> list[Result]:
        """Read and write."""
        self.moments.tick()
        results = self.inner.batch(ops)
        self.moments.tick()
        return results

    async def abatch(self, ops: Any) -> list[Result]:
        """No run here is asynchronous."""
        raise AssertionError(list[Op](ops))


class MortalPlace(MemoryPlace):
    """The threads of a memory, in a process that ends at a moment."""

    def __init__(self, kept: MemoryPlace, moment: int) -> None:
        super().__init__()
        self.kept, self.moments = kept, Moments(moment)

    @contextmanager
    def open(self) -> Iterator[Storage]:
        """The memory's storage, with moments."""
        with self.kept.open() as storage:
            yield Storage(MortalSaver(storage.saver, self.moments), MortalStore(storage.store, self.moments))


def tools(effects: list[str]) -> list[BaseTool]:
    """A read, and a write whose effects are listed."""

    @tool
    def look(at: str) -> str:
        """Look at something."""
        return f"saw {at}"

    @tool
    def book(item: str) -> str:
        """Book something."""
        effects.append(item)
        return f"booked {item}"

    return [tool_policy(look, effect="read"), tool_policy(book, effect="write")]


def play(messages: list[BaseMessage]) -> AIMessage | str:
    """To each task two reads and a write, then an answer that names it."""
    place = max(i for i, message in enumerate(messages) if message.type == "human")
    task = messages[place].text
    if any(isinstance(message, AIMessage) for message in messages[place:]):
        return f"answer to {task}"
    return reply("", call("look", at=f"{task}-a"), call("look", at=f"{task}-b"), call("book", item=task))


class Trial:
    """One memory, and the processes that use it one after the other."""

    def __init__(self) -> None:
        self.kept = MemoryPlace()
        self.effects: list[str] = []

    def agent(self, moment: int = 0) -> Agent:
        """The agent of a process that ends at this moment."""
        agent: Agent = Agent(ScriptedModel(play), tools(self.effects))
        agent.place = MortalPlace(self.kept, moment)
        return agent

    def send(self, what: str, moment: int = 0) -> bool:
        """Resume, or deliver this task with its text as the run id; whether the process lived to its end."""
        agent = self.agent(moment)
        try:
            if what == "resume":
                agent.resume("t")
            else:
                agent.run(what, thread="t", run_id=what)
        except Killed:
            return False
        return True

    def messages(self) -> list[BaseMessage]:
        """The thread's transcript, with what a step in progress has finished."""
        with self.kept.open() as storage:
            graph = self.agent().graph.copy(update={"checkpointer": storage.saver, "store": storage.store})
            messages: list[BaseMessage] = graph.get_state({"configurable": {"thread_id": "t"}}).values["messages"]
            return messages

    def faults(self, before: list[BaseMessage]) -> list[str]:
        """What is wrong with the thread at rest; `before` was its transcript when the second process had ended."""
        messages, report = self.messages(), self.agent().report("t")
        calls = [each["id"] for message in messages if isinstance(message, AIMessage) for each in message.tool_calls]
        results = [message.tool_call_id for message in messages if isinstance(message, ToolMessage)]
        reported = [each for run in report.runs for each_round in run.rounds for each in each_round.calls]
        said = Counter(message.text for message in messages if message.type != "tool" and message.text)
        ids = [run.id for run in report.runs]
        checks = {
            "an effect was made twice": len(set(self.effects)) == len(self.effects),
            "a result was lost": {each.id for each in before if each.type == "tool"} <= {each.id for each in messages},
            "calls and results differ": sorted(map(str, calls)) == sorted(results),
            "calls and report differ": Counter(calls) == Counter(each.call_id for each in reported),
            "a call is open": all(each.status != "open" for each in reported),
            "something was said twice": all(times == 1 for times in said.values()),
            "a run is told twice": len(set(ids)) == len(ids),
            "a fork was made up": not any(run.forks for run in report.runs),
            "the last run has not ended": report.runs[-1].status == "completed",
        }
        return [fault for fault, good in checks.items() if not good]


WAYS = (("r2",), ("r1", "r2"), ("r1", "resume"), ("resume", "r1", "r2"), ("r3",))
"""How processes that live go on after two that were killed: in `r1`, and in `r2`, a new task."""


def tried(first: int, second: int, way: tuple[str, ...]) -> list[str]:
    """What is wrong after processes that ended at these moments, and others that lived."""
    trial = Trial()
    if trial.send("r1", first) or trial.send("r2", second):
        return []
    before = trial.messages()
    for each in way:
        assert trial.send(each)
    return trial.faults(before)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS, ids="-".join)
def test_a_new_task_after_a_crash_survives_a_crash(way: tuple[str, ...]) -> None:
    """Wherever two processes were killed, the thread ends whole: no effect twice, nothing finished lost, all told."""
    found = {(first, second): tried(first, second, way) for first in range(5, 59, 13) for second in range(2, 24, 3)}
    assert {moments: faults for moments, faults in found.items() if faults} == {}


@pytest.fixture
def settled() -> Trial:
    """A process ended in the middle of the reads; the next one, with a new task, right before its input was stored."""
    for first in range(15, 45):
        trial = Trial()
        trial.send("r1", first)
        trial.send("r2", 2)  # one write, of what the step had finished: 1 is before it, 2 behind it
        if trial.agent().history("t")[-1].text == "look ok" and len(trial.messages()) == 3:
            return trial
    raise AssertionError("no such moment: nothing was written before the new input")


def test_what_a_left_step_had_finished_stands_under_its_run(settled: Trial) -> None:
    """The history tells what finished and where, and the report no fork."""
    entry = settled.agent().history("t")[-1]
    assert (entry.source, entry.run, entry.node, entry.text) == (
        "update",
        "r1",
        "execute_tools+execute_tools",
        "look ok",
    )
    assert settled.agent().report("t").runs[-1].forks == ()


def test_the_left_delivery_goes_on_where_a_newer_one_never_came_in(settled: Trial) -> None:
    """Sent again, it goes on from what had finished, and is no new input."""
    assert settled.send("r1")
    assert [entry.source for entry in settled.agent().history("t")].count("input") == 1
    assert settled.faults([]) == []
    assert settled.messages()[-1].text == "answer to r1"


def arrived(next_node: str) -> Trial:
    """A process ended in a run; the next one, with a new task, where this node was to take that in."""
    for moment in range(1, 24):
        trial = Trial()
        trial.send("r1", 20)
        trial.send("r2", moment)
        if trial.agent().history("t")[-1].next == (next_node,):
            return trial
    raise AssertionError(f"no such moment: {next_node} never came next")


@pytest.mark.parametrize("next_node", ["__start__", "begin"])
def test_a_delivery_does_not_take_the_input_of_a_newer_one(next_node: str) -> None:
    """Where a newer input is stored and its run not begun, an older delivery does nothing; the newer one goes on."""
    trial = arrived(next_node)
    before = len(trial.agent().history("t"))
    assert trial.send("r1")
    assert len(trial.agent().history("t")) == before
    assert trial.send("r2")
    assert [run.id for run in trial.agent().report("t").runs] == ["r1", "r2"]
    assert trial.messages()[-1].text == "answer to r2"
