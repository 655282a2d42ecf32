"""Delta channels against their full twins: the same machine, the same script, every historical state compared.

    uv run python benchmarks/delta_twin.py [--rounds 350] [--asynchronous] [--storage memory: sqlite: postgresql://...]

The twin keeps `messages`, `events` and `view` in ordinary channels: LangGraph's add_messages, a list that grows, the
last value. Both play the same rounds of reads, writes and approvals, in which the process dies and resumes, and
between them the same operations: a fork, a fork with an edit, a message replaced, one removed, two updates of one
checkpoint, a new input on an old checkpoint. The storage is opened afresh for each. In the end every state of the
history is read from both and compared, ids and order included; times are left out. (RemoveMessage of an unknown id is
left out: the full channel raises, a delta channel ignores it.)

A Postgres storage is written to under a thread id of its own, and what was written is deleted afterwards.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from operator import add
from pathlib import Path
from typing import Any
from uuid import uuid4

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, RemoveMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, tool
from langgraph.channels.binop import BinaryOperatorAggregate
from langgraph.channels.delta import DeltaChannel
from langgraph.graph.message import add_messages
from langgraph.types import Command, StateSnapshot

from loopwright import Settings, build_graph, tool_policy
from loopwright.settings import MemorySettings, ModelSettings, ToolSettings
from loopwright.state import View, append, by_id, last
from loopwright.steps import Core, Do, adrive, drive
from loopwright.storage import Place, place_of
from loopwright.stream import Graph
from loopwright.testing import ScriptedModel, call, reply
from loopwright.threads import delete

SETTINGS = Settings(
    max_model_calls=100_000,
    max_tool_calls=None,
    context_tokens=2_000,
    memory=MemorySettings(summary=False),
    model=ModelSettings(retry_delay=0),
    tools=ToolSettings(retry_delay=0),
)
TURNS = 7
"""Runs on the thread; an operation stands between any two."""
TIMES = frozenset({"at", "seconds", "working_seconds"})
"""Fields that differ from one run to the next."""

Channels = dict[str, Any]


def delta_channels(frequency: int) -> Channels:
    """The machine's own channels, with a snapshot every so many updates."""
    return {
        "messages": DeltaChannel(by_id, list, snapshot_frequency=frequency),
        "events": DeltaChannel(append, list, snapshot_frequency=frequency),
        "view": DeltaChannel(last, View, snapshot_frequency=frequency),
    }


def full_channels() -> Channels:
    """Channels that are written whole into every checkpoint."""
    return {
        "messages": BinaryOperatorAggregate(list, add_messages),
        "events": BinaryOperatorAggregate(list, add),
        "view": BinaryOperatorAggregate(dict, lambda _, new: new),
    }


class Double:
    """The model and the tools of one twin: everything they do follows from the number of the request."""

    def __init__(self, span: int) -> None:
        self.span, self.requests = span, 0
        self.deadly: set[str] = set()

    def play(self, _: list[BaseMessage]) -> AIMessage:
        """Two parallel reads; once a turn a write, a write that a person approves, a death, and an answer."""
        self.requests += 1
        number, place = self.requests, self.requests % self.span
        if place == 0:
            said = AIMessage(f"answer {number}")
        elif place in (2, 3):
            said = reply("", call("pay" if place == 2 else "transfer", to=str(number)))
        elif place == 1:  # alone: whether a read beside it was saved before the death would be chance
            said = reply("", call("look", at=f"{number}"))
            self.deadly.add(f"{number}")
        else:
            said = reply("", call("look", at=f"{number}a"), call("look", at=f"{number}b"))
        return said.model_copy(update={"id": f"reply-{number}"})

    def tools(self) -> list[BaseTool]:
        """The tools."""

        @tool
        def look(at: str) -> str:
            """Look at something."""
            if at in self.deadly:
                self.deadly.remove(at)
                raise KeyboardInterrupt
            return f"saw {at}: " + f"{at} " * 20

        @tool
        def pay(to: str) -> str:
            """Pay someone."""
            return f"paid {to}"

        @tool
        def transfer(to: str) -> str:
            """Transfer to someone."""
            return f"transferred to {to}"

        return [
            tool_policy(look, effect="read"),
            tool_policy(pay, effect="write"),
            tool_policy(transfer, effect="write", approval=True),
        ]


class Twin:
    """One of the two: a graph with its channels, on a storage that is opened for each operation."""

    def __init__(self, channels: Channels, place: Place, span: int, *, asynchronous: bool) -> None:
        double = Double(span)
        for name, channel in channels.items():
            channel.key = name
        graph: Graph = build_graph(ScriptedModel(double.play), double.tools(), SETTINGS)
        self._graph = graph.copy(update={"channels": {**graph.channels, **channels}})
        self.place, self._asynchronous = place, asynchronous
        self.thread = f"twin-{uuid4()}"

    def do(self, operation: Callable[[Graph], Core[Any]]) -> Any:
        """Make one operation on the freshly opened storage."""
        if self._asynchronous:
            return asyncio.run(self._ado(operation))
        with self.place.open() as storage:
            return drive(operation(self._graph.copy(update={"checkpointer": storage.saver, "store": storage.store})))

    async def _ado(self, operation: Callable[[Graph], Core[Any]]) -> Any:
        async with self.place.aopen() as storage:
            graph = self._graph.copy(update={"checkpointer": storage.saver, "store": storage.store})
            return await adrive(operation(graph))

    def config(self, checkpoint: str | None = None, run: str = "") -> RunnableConfig:
        """The thread's config, or that of one of its checkpoints."""
        place = {"thread_id": self.thread, "checkpoint_ns": "", **({"checkpoint_id": checkpoint} if checkpoint else {})}
        return {"configurable": place, "recursion_limit": 100_000, "metadata": {"run_id": run} if run else {}}

    def state(self, checkpoint: str | None = None) -> StateSnapshot:
        """The state at a checkpoint, or the newest."""
        config = self.config(checkpoint)
        found: StateSnapshot = self.do(lambda graph: _done(graph.get_state, graph.aget_state, config))
        return found

    def history(self) -> list[StateSnapshot]:
        """Every state of the thread, the oldest first."""
        config = self.config()

        def read(graph: Graph) -> Core[list[StateSnapshot]]:
            async def listed() -> list[StateSnapshot]:
                return [each async for each in graph.aget_state_history(config)]

            return _done(lambda: list(graph.get_state_history(config)), listed)

        found: list[StateSnapshot] = self.do(read)
        return found[::-1]

    def update(self, values: dict[str, Any], node: str, checkpoint: str | None = None) -> None:
        """Write to the state of a checkpoint, or of the newest."""
        config = self.config(checkpoint)
        self.do(lambda graph: _done(graph.update_state, graph.aupdate_state, config, values, node))

    def go(self, given: Any, run: str, checkpoint: str | None = None) -> None:
        """Run to the end, through deaths and approvals."""
        config = self.config(checkpoint, run)
        while True:
            try:
                self.do(lambda graph: _invoked(graph, given, config))  # noqa: B023 - used within the round
            except KeyboardInterrupt:
                given = None
            else:
                asked = self.state().interrupts
                if not asked:
                    return
                given = Command(resume={each.id: {"type": "approve"} for each in asked})
            config = self.config(run=run)


def _done(sync: Callable[..., Any], asynchronous: Callable[..., Any], *args: Any) -> Core[Any]:
    value = yield Do(sync, asynchronous, args)
    return value


def _invoked(graph: Graph, given: Any, config: RunnableConfig) -> Core[Any]:
    forms = (partial(each, durability="sync") for each in (graph.invoke, graph.ainvoke))
    return _done(*forms, given, config)


def play(twin: Twin) -> None:
    """All turns and, between them, every operation."""
    for number, operation in enumerate((_nothing, _fork, _edited, _replaced, _removed, _siblings, _old_input)):
        operation(twin, f"between-{number}")
        twin.go({"messages": [HumanMessage(f"task {number}", id=f"in-run-{number}")]}, f"run-{number}")


def _nothing(_: Twin, __: str) -> None:
    """Before the first turn."""


def _fork(twin: Twin, run: str) -> None:
    """Go on from the middle of the history."""
    twin.go(None, run, _middle(twin))


def _edited(twin: Twin, run: str) -> None:
    """Go on from the middle of the history under another task."""
    middle = _middle(twin)
    user = next(m for m in _messages(twin, middle) if isinstance(m, HumanMessage))
    twin.update({"messages": [HumanMessage("another task", id=user.id)]}, "call_model", middle)
    twin.go(None, run)


def _replaced(twin: Twin, _: str) -> None:
    """Replace a result in the middle of the transcript."""
    results = [m for m in _messages(twin) if isinstance(m, ToolMessage)]
    chosen = results[len(results) // 2]
    twin.update({"messages": [chosen.model_copy(update={"content": "replaced"})]}, "finish")


def _removed(twin: Twin, _: str) -> None:
    """Remove the last answer."""
    twin.update({"messages": [RemoveMessage(id=str(_messages(twin)[-1].id))]}, "finish")


def _siblings(twin: Twin, run: str) -> None:
    """Make two updates of one checkpoint, and go on with the second."""
    middle = _middle(twin)
    for name in ("one", "two"):
        twin.update({"messages": [HumanMessage(f"sibling {name}", id=f"sibling-{name}")]}, "call_model", middle)
    twin.go(None, run)


def _old_input(twin: Twin, run: str) -> None:
    """Send a new input to an old checkpoint."""
    twin.go({"messages": [HumanMessage("late", id=f"in-{run}")]}, run, _middle(twin))


def _messages(twin: Twin, checkpoint: str | None = None) -> list[AnyMessage]:
    found: list[AnyMessage] = twin.state(checkpoint).values["messages"]
    return found


def _middle(twin: Twin) -> str:
    """The first checkpoint behind the middle of the history that leads to the guard."""
    config = twin.config()

    def listed(graph: Graph) -> Core[list[str]]:
        saver: Any = graph.checkpointer

        async def alisted() -> list[Any]:
            return [each async for each in saver.alist(config)]

        found = yield Do(lambda: list(saver.list(config)), alisted)
        return [each.config["configurable"]["checkpoint_id"] for each in reversed(found)]

    ids: list[str] = twin.do(listed)
    return next(each for each in ids[len(ids) // 2 :] if twin.state(each).next == ("guard",))


def plain(value: Any) -> Any:
    """A state as plain data, without times."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items() if key not in TIMES}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return plain(value.model_dump()) if isinstance(value, BaseMessage) else value


def differences(one: list[StateSnapshot], other: list[StateSnapshot]) -> Iterator[str]:
    """Where two histories differ."""
    if len(one) != len(other):
        yield f"{len(one)} states against {len(other)}"
    for number, (left, right) in enumerate(zip(one, other, strict=False)):
        for name in sorted({*left.values, *right.values}):
            if plain(left.values.get(name)) != plain(right.values.get(name)):
                yield f"state {number}: {name} differs"
        if left.next != right.next:
            yield f"state {number}: {left.next} against {right.next}"


@contextmanager
def storage_at(url: str) -> Iterator[Place]:
    """The place of a URL; `sqlite:` is a file that is gone afterwards."""
    if url != "sqlite:":
        yield place_of(url)
        return
    with tempfile.TemporaryDirectory() as folder:
        yield place_of(f"sqlite:///{Path(folder, 'runs.db')}")


def compared(url: str, rounds: int, frequency: int, *, asynchronous: bool) -> tuple[int, list[str]]:
    """How many states the two have, and where they differ."""
    span = max(5, rounds // (2 * TURNS - 3))  # four of the operations run a turn too
    with storage_at(url) as place, storage_at("memory:") as memory:
        delta = Twin(delta_channels(frequency), place, span, asynchronous=asynchronous)
        full = Twin(full_channels(), memory, span, asynchronous=asynchronous)
        play(delta)
        play(full)
        states = delta.history()
        found = list(differences(states, full.history()))
        with place.open() as storage:
            delete(storage, delta.thread)
    return len(states), found


def main() -> None:
    """Compare on every storage that was named, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=350)
    parser.add_argument("--frequency", type=int, default=100)
    parser.add_argument("--asynchronous", action="store_true")
    parser.add_argument("--storage", nargs="+", default=["memory:", "sqlite:"])
    options = parser.parse_args()
    wrong = 0
    for url in options.storage:
        started = time.perf_counter()
        states, found = compared(url, options.rounds, options.frequency, asynchronous=options.asynchronous)
        wrong += len(found)
        kind = "async" if options.asynchronous else "sync"
        seconds = time.perf_counter() - started
        print(
            f"{url.split(':')[0]} {kind}: {states} states, {len(found)} differences, {seconds:.0f} s",
            *found[:9],
            sep="\n  ",
        )
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
