"""Runs that are left in the middle: cancelled, drained, or their caller gone; each goes on from there."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, tool

from loopwright import Agent, RunResult, Settings, tool_policy
from loopwright.errors import ThreadBusy
from loopwright.settings import ModelSettings, ToolSettings
from loopwright.storage import place_of
from loopwright.testing import ScriptedModel, call, reply

FAST = Settings(model=ModelSettings(retry_delay=0), tools=ToolSettings(retry_delay=0))
STORAGES = ["memory:", "sqlite:///{}/runs.db"]


class Gate:
    """A tool that says when it has begun and ends when it may."""

    def __init__(self) -> None:
        self.begun, self.may_end = threading.Event(), threading.Event()
        self.log: list[str] = []

    def tool(self, **policy: Any) -> BaseTool:
        """The tool, sync."""

        @tool
        def wait(at: str) -> str:
            """Wait."""
            self.begun.set()
            assert self.may_end.wait(30)
            self.log.append(at)
            return f"waited {at}"

        return tool_policy(wait, effect="read", **policy)


SCRIPT: list[Any] = [reply("", call("wait", at="a"), call("wait", at="b")), reply("", call("wait", at="c")), "done"]


def in_thread(work: Callable[[], RunResult]) -> "tuple[threading.Thread, list[RunResult]]":
    """The work in a thread of its own, and where its result will be."""
    results: list[RunResult] = []
    thread = threading.Thread(target=lambda: results.append(work()))
    thread.start()
    return thread, results


@pytest.mark.parametrize("storage", STORAGES)
def test_a_cancelled_run_ends_after_its_step(storage: str, tmp_path: Path) -> None:
    """The running tools are waited for and their results kept; the result says why, and resuming repeats nothing."""
    gate = Gate()
    agent = Agent(ScriptedModel(list(SCRIPT)), [gate.tool()], settings=FAST, storage=storage.format(tmp_path))
    assert not agent.cancel("t")
    thread, results = in_thread(lambda: agent.run("x", thread="t", run_id="r"))
    assert gate.begun.wait(30)
    assert agent.cancel("t")
    gate.may_end.set()
    thread.join(30)
    (result,) = results
    assert result.stop is not None
    assert (result.stop["reason"], result.complete, result.answer, result.pending) == ("cancelled", False, "", ())
    assert result.stop["counters"]["model_calls"] == 1
    assert (result.stop["step"], result.usage.model_calls, result.usage.tool_calls) == (1, 1, 2)
    assert result.stop["advice"]
    assert sorted(gate.log) == ["a", "b"]
    assert agent.report("t").runs[0].status == "unfinished"
    assert not agent.cancel("t")
    on = agent.resume("t")
    assert (on.answer, on.complete, sorted(gate.log)) == ("done", True, ["a", "b", "c"])


def test_the_same_delivery_goes_on_after_a_cancel() -> None:
    """The same run id sent again ends the run that was cancelled."""
    gate = Gate()
    agent = Agent(ScriptedModel(list(SCRIPT)), [gate.tool()], settings=FAST)
    thread, _ = in_thread(lambda: agent.run("x", thread="t", run_id="r"))
    assert gate.begun.wait(30)
    agent.cancel("t")
    gate.may_end.set()
    thread.join(30)
    assert agent.run("x", thread="t", run_id="r").answer == "done"
    assert sorted(gate.log) == ["a", "b", "c"]


def test_a_stream_is_cancelled_by_who_reads_it() -> None:
    """`stream.cancel` in the loop over its events ends it at the next step, for the reason that was given."""
    agent = Agent(ScriptedModel([reply("", call("look", at="a")), "done"]), [looking()], settings=FAST)
    stream = agent.stream("x", thread="t")
    kinds = []
    for item in stream:
        if isinstance(item, dict):
            kinds.append(item["kind"])
            if item["kind"] == "call":
                stream.cancel("drained")
    assert kinds[-1] == "call"
    assert stream.result.stop is not None
    assert stream.result.stop["reason"] == "drained"
    assert agent.resume("t").answer == "done"


def looking() -> BaseTool:
    """A reading tool."""

    @tool
    def look(at: str) -> str:
        """Look."""
        return f"saw {at}"

    return tool_policy(look, effect="read")


def test_a_run_that_is_cancelled_before_its_first_step_begins_later() -> None:
    """What was asked is kept: resuming makes the whole run."""
    agent = Agent(ScriptedModel(["done"]), settings=FAST)
    stream = agent.stream("x", thread="t")
    stream.cancel()
    result = stream.finish()
    assert result.stop is not None
    assert (result.stop["reason"], result.usage.model_calls) == ("cancelled", 0)
    assert [message.text for message in agent.resume("t").messages] == ["x", "done"]


def test_a_cancel_that_comes_too_late_changes_nothing() -> None:
    """A run that ends, or waits for a person, in the step that is waited for has its own result."""
    agent = Agent(ScriptedModel([reply("", call("pay")), "done"]), [asking()], settings=FAST)
    stream = agent.stream("x", thread="t")
    for item in stream:
        if isinstance(item, dict) and item["kind"] == "decision" and item["go"] == "execute_tools":
            stream.cancel()
    assert stream.result.stop is None or stream.result.stop["reason"] == "cancelled"
    (asked,) = agent.resume("t").pending
    last = agent.stream(thread="t", decisions={asked.id: {"type": "approve"}})
    for item in last:
        if isinstance(item, dict) and item["kind"] == "stop":
            last.cancel()
    assert last.result.complete


def asking() -> BaseTool:
    """A tool that asks for approval."""

    @tool
    def pay() -> str:
        """Pay."""
        return "paid"

    return tool_policy(pay, effect="write", approval=True)


def test_an_answer_that_a_cancelled_run_did_not_take_is_asked_for_again() -> None:
    """The question stays open, nothing ran, and the next answer is obeyed once."""
    agent = Agent(ScriptedModel([reply("", call("pay")), "done"]), [asking()], settings=FAST)
    (asked,) = agent.run("x", thread="t").pending
    stream = agent.stream(thread="t", decisions={asked.id: {"type": "approve"}})
    stream.cancel()
    left = stream.finish()
    assert (left.complete, left.pending) == (False, (asked,))
    result = agent.resume("t", decisions={asked.id: {"type": "approve"}})
    assert (result.answer, [m.text for m in result.messages if m.type == "tool"]) == ("done", ["paid"])


@pytest.mark.parametrize("storage", STORAGES)
def test_cancel_from_the_event_loop(storage: str, tmp_path: Path) -> None:
    """`agent.cancel` beside `arun` on one loop: the run ends after its step and its awaiter gets the result."""
    gate = Gate()
    agent = Agent(ScriptedModel(list(SCRIPT)), [gate.tool()], settings=FAST, storage=storage.format(tmp_path))

    async def main() -> RunResult:
        running = asyncio.create_task(agent.arun("x", thread="t"))
        assert await asyncio.to_thread(gate.begun.wait, 30)
        assert agent.cancel("t")
        gate.may_end.set()
        first = await running
        assert first.stop is not None
        assert first.stop["reason"] == "cancelled"
        return await agent.aresume("t")

    assert asyncio.run(main()).answer == "done"
    assert sorted(gate.log) == ["a", "b", "c"]


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("door", ["arun", "astream"])
def test_a_caller_that_goes_away_leaves_a_resumable_thread(door: str, storage: str, tmp_path: Path) -> None:
    """Cancelling the task of a door, as a web server does when its client is gone, frees the claim; resume goes on."""
    begun = asyncio.Event()
    log: list[str] = []

    @tool
    async def wait(at: str) -> str:
        """Wait."""
        begun.set()
        if not log:
            log.append("left")
            await asyncio.sleep(3600)
        log.append(at)
        return f"waited {at}"

    agent = Agent(
        ScriptedModel([reply("", call("wait", at="a")), "done"]),
        [tool_policy(wait, effect="read")],
        settings=FAST,
        storage=storage.format(tmp_path),
    )

    async def read() -> None:
        async for _ in agent.astream("x", thread="t"):
            pass

    async def main() -> RunResult:
        task = asyncio.create_task(read() if door == "astream" else agent.arun("x", thread="t"))
        await begun.wait()
        with pytest.raises(ThreadBusy):
            await agent.aresume("t")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not agent.cancel("t")
        return await agent.aresume("t")

    result = asyncio.run(main())
    assert (result.answer, log) == ("done", ["left", "a"])


def test_leaving_a_stream_frees_the_thread() -> None:
    """`break` out of a stream ends its run: sync at once, async when the loop comes round; both resume."""
    agent = Agent(ScriptedModel([reply("", call("look", at="a")), "done"] * 2), [looking()], settings=FAST)
    for item in agent.stream("x", thread="t"):
        if isinstance(item, dict) and item["kind"] == "model":
            break
    assert agent.resume("t").answer == "done"

    async def main() -> RunResult:
        stream = agent.astream("x", thread="u")
        await stream.aclose()  # nothing began yet
        async for item in stream:
            if isinstance(item, dict) and item["kind"] == "model":
                break
        await stream.aclose()
        return await agent.aresume("u")

    assert asyncio.run(main()).answer == "done"


def test_a_write_that_a_cancelled_caller_left_is_unknown() -> None:
    """A write in flight when the caller goes away is not fired again: its outcome is unknown."""
    begun = asyncio.Event()
    log: list[str] = []

    @tool
    async def pay(to: str) -> str:
        """Pay."""
        log.append(to)
        begun.set()
        await asyncio.sleep(3600)
        return "never"

    agent = Agent(
        ScriptedModel([reply("", call("pay", to="bob")), "done"]), [tool_policy(pay, effect="write")], settings=FAST
    )

    async def main() -> RunResult:
        task = asyncio.create_task(agent.arun("x", thread="t"))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await agent.aresume("t")

    result = asyncio.run(main())
    assert log == ["bob"]
    assert next(m.text for m in result.messages if m.type == "tool").startswith("OUTCOME UNKNOWN")


def test_a_write_to_the_storage_that_a_cancelled_run_left_is_let_through(tmp_path: Path) -> None:
    """Closing the storage waits for what is being written: cut in its middle, it would keep the file locked."""
    place = place_of(f"sqlite:///{tmp_path}/runs.db")
    config: RunnableConfig = {"configurable": {"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": "1"}}

    async def main() -> None:
        async with place.aopen() as storage:
            writing = asyncio.create_task(storage.saver.aput_writes(config, [("messages", "hi")], "task"))
            while not getattr(storage.saver, "lock").locked():  # noqa: B009 - only this saver has one
                await asyncio.sleep(0)
        await writing

    asyncio.run(main())
    with closing(sqlite3.connect(tmp_path / "runs.db", timeout=0)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert other.execute("SELECT count(*) FROM writes").fetchone() == (1,)
