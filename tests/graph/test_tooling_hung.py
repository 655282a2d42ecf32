"""Tools that hang or end late: neither the loop nor the process waits, and a write's late end is journaled."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.tools import StructuredTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.base import BaseStore, Op, PutOp, Result
from langgraph.store.memory import InMemoryStore

from loopwright import Agent, RunResult, Settings, build_graph, tool_policy
from loopwright.settings import ModelSettings, ToolSettings
from loopwright.state import Effect
from loopwright.storage import open_storage
from loopwright.testing import ScriptedModel, call, reply
from loopwright.tooling.daemons import in_daemon_thread

FAST = Settings(model=ModelSettings(retry_delay=0), tools=ToolSettings(retry_delay=0, timeout=0.1))
TASK: Any = {"messages": [("user", "x")]}
PATIENCE = 30.0
"""Seconds after which a test that waits for an event fails."""


class Gate:
    """A tool's function, sync or async, that hangs until it is opened."""

    def __init__(self, error: Exception | None = None) -> None:
        self.opened, self.error = threading.Event(), error

    def pay(self, to: str) -> str:
        """Pay."""
        self.opened.wait(PATIENCE)
        if self.error is not None:
            raise self.error
        return f"paid {to}"

    async def apay(self, to: str) -> str:
        """Pay."""
        return await asyncio.wrap_future(in_daemon_thread(self.pay, to))

    def tool(self, effect: Effect, *, asynchronous: bool) -> StructuredTool:
        """The tool."""
        made = (
            StructuredTool.from_function(coroutine=self.apay, name="pay", description="Pay.")
            if asynchronous
            else StructuredTool.from_function(self.pay)
        )
        return tool_policy(made, effect=effect)


def said(result: RunResult) -> str:
    """What the run's only tool message says."""
    (message,) = [message for message in result.messages if isinstance(message, ToolMessage)]
    return message.text


def paying() -> ScriptedModel:
    """A model that pays once and then says so."""
    return ScriptedModel([reply("", call("pay", to="bob")), "done"])


@pytest.mark.parametrize("effect", ["read", "write"])
@pytest.mark.parametrize("asynchronous", [False, True])
def test_the_loop_goes_on_without_it(effect: Effect, asynchronous: bool) -> None:
    """Beyond its timeout a read is an error and a write's outcome is unknown, in sync and async runs."""
    gate = Gate()
    try:
        for run in (Agent.run, lambda agent, task: asyncio.run(agent.arun(task))):
            agent = Agent(paying(), [gate.tool(effect, asynchronous=asynchronous)], settings=FAST)
            result = run(agent, "x")
            assert result.answer == "done"
            assert said(result).startswith("OUTCOME UNKNOWN" if effect == "write" else "Error: pay did not end within")
    finally:
        gate.opened.set()


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("run_async", [False, True])
def test_the_process_ends_without_it(asynchronous: bool, run_async: bool) -> None:
    """A process whose tool hangs for ever prints its answer and exits."""
    program = f"""
import asyncio, threading
from loopwright import Agent, Settings, tool_policy
from loopwright.settings import ToolSettings
from loopwright.testing import ScriptedModel, call, reply
from langchain_core.tools import tool

@tool
{"async " if asynchronous else ""}def hang() -> str:
    "Hang."
    {"await asyncio.Event().wait()" if asynchronous else "threading.Event().wait()"}

model = ScriptedModel([reply("", call("hang")), "left it behind"])
agent = Agent(model, [tool_policy(hang, effect="write")], settings=Settings(tools=ToolSettings(timeout=0.1)))
result = {"asyncio.run(agent.arun('x'))" if run_async else "agent.run('x')"}
print(result.answer, flush=True)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout.strip(), done.returncode) == ("left it behind", 0), done.stderr


class Watched(InMemoryStore):
    """A store that tells when a call's end was journaled."""

    def __init__(self) -> None:
        super().__init__()
        self.done = threading.Event()
        self.record: dict[str, Any] = {}

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """As it is, and look at what is put."""
        given = list(ops)
        results = super().batch(given)
        for op in given:
            if isinstance(op, PutOp) and op.value and op.value.get("state") == "done":
                self.record = dict(op.value)
                self.done.set()
        return results


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("error", [None, ValueError("no such account")])
def test_a_late_end_is_journaled(asynchronous: bool, error: Exception | None) -> None:
    """A write that ends after its timeout is written to the journal as done, with its result or its error."""
    gate, store = Gate(error), Watched()
    graph = build_graph(
        paying(), [gate.tool("write", asynchronous=asynchronous)], FAST, checkpointer=InMemorySaver(), store=store
    )
    config: Any = {"configurable": {"thread_id": "t"}}
    try:
        out = graph.invoke(TASK, config, durability="sync")
        assert out["answer"] == "done"
        assert store.record == {}
    finally:
        gate.opened.set()
    assert store.done.wait(PATIENCE)
    expected = ("error", "ValueError: no such account") if error else ("ok", "paid bob")
    assert (store.record["status"], store.record["text"]) == expected


def test_a_late_end_is_journaled_on_a_running_event_loop() -> None:
    """In an async run a write is left running on the loop when its time is up, not cancelled, and its end journaled."""
    gate, store = Gate(), Watched()
    graph = build_graph(
        paying(), [gate.tool("write", asynchronous=True)], FAST, checkpointer=InMemorySaver(), store=store
    )

    async def run() -> None:
        config: Any = {"configurable": {"thread_id": "t"}}
        out = await graph.ainvoke(TASK, config, durability="sync")
        assert out["answer"] == "done"
        gate.opened.set()
        await asyncio.wrap_future(in_daemon_thread(store.done.wait, PATIENCE))

    asyncio.run(run())
    assert (store.record["status"], store.record["text"]) == ("ok", "paid bob")


@pytest.mark.parametrize("run_async", [False, True])
def test_a_late_end_is_journaled_after_the_run(run_async: bool, tmp_path: Path) -> None:
    """The run is over and its storage closed when the write ends: the end is on disk all the same."""
    gate, url = Gate(), f"sqlite:///{tmp_path}/runs.db"
    agent = Agent(paying(), [gate.tool("write", asynchronous=False)], settings=FAST, storage=url)
    try:
        result = asyncio.run(agent.arun("x", thread="t")) if run_async else agent.run("x", thread="t")
        assert said(result).startswith("OUTCOME UNKNOWN")
    finally:
        gate.opened.set()
    assert until(lambda: journaled(url) == ("done", "ok", "paid bob"))


def journaled(url: str) -> tuple[str, str, str]:
    """State, status and text of the one record in the journal."""
    with open_storage(url) as storage:
        (item,) = storage.store.search(("effects",))
    return item.value["state"], item.value["status"], item.value["text"]


def until(true: Callable[[], bool]) -> bool:
    """Whether this becomes true within the test's patience: another thread writes to a file, which nobody announces."""
    pause = threading.Event()
    return any(true() or pause.wait(0.02) for _ in range(int(PATIENCE / 0.02)))


def test_a_cancelled_write_is_unknown_and_its_end_is_journaled() -> None:
    """A run that is cancelled in the middle of a sync write leaves `started`; when the write ends, it is `done`."""
    gate, store = Gate(), Watched()
    patient = FAST.model_copy(update={"tools": ToolSettings(timeout=PATIENCE)})
    begun = threading.Event()

    @tool
    def pay(to: str) -> str:
        """Pay."""
        begun.set()
        return gate.pay(to)

    graph = build_graph(
        paying(), [tool_policy(pay, effect="write")], patient, checkpointer=InMemorySaver(), store=store
    )

    async def run() -> None:
        config: Any = {"configurable": {"thread_id": "t"}}
        task = asyncio.ensure_future(graph.ainvoke(TASK, config, durability="sync"))
        await asyncio.wrap_future(in_daemon_thread(begun.wait, PATIENCE))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    assert started(store) == "started"
    gate.opened.set()
    assert store.done.wait(PATIENCE)
    assert started(store) == "done"


def started(store: BaseStore) -> str:
    """The state of the one record in the journal."""
    (item,) = store.search(("effects",))
    return str(item.value["state"])


def test_a_write_that_says_itself_that_it_timed_out_is_unknown() -> None:
    """A declared write that raises a TimeoutError may have happened; a read that does is simply tried again."""

    def pay(to: str) -> str:
        """Pay."""
        raise TimeoutError("no answer from the bank")

    for effect, beginning in (("write", "OUTCOME UNKNOWN: TimeoutError: no answer"), ("read", "Error: TimeoutError")):
        given = tool_policy(StructuredTool.from_function(pay), effect=effect)  # type: ignore[arg-type]
        result = Agent(paying(), [given], settings=FAST).run("x")
        assert said(result).startswith(beginning)
