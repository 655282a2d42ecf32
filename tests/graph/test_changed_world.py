"""A thread meets another world: other tools, model, prompt, format or clock, and history that was lost."""

import asyncio
import json
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from langchain_core.messages import HumanMessage, RemoveMessage
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.base import copy_checkpoint

from loopwright import Agent, RunResult, Settings, build_graph, tool_policy
from loopwright.errors import LoopwrightError, StorageError, UsageError
from loopwright.settings import ModelSettings, ToolSettings
from loopwright.soundness import written_at
from loopwright.state import FORMAT, OLDEST_FORMAT
from loopwright.testing import ScriptedModel, call, reply
from loopwright.threads import export_thread, prune

FAST = Settings(model=ModelSettings(retry_delay=0), tools=ToolSettings(retry_delay=0))


def reading(name: str, *, interrupted: bool = False) -> BaseTool:
    """A reading tool of this name; `interrupted` ends the process in it, as far as the machine can see."""

    @tool(name)
    def look(at: str) -> str:
        """Look at something."""
        if interrupted:
            raise KeyboardInterrupt
        return f"saw {at}"

    return tool_policy(look, effect="read")


def paying(*, approval: bool = False) -> BaseTool:
    """A writing tool."""

    @tool
    def pay(to: str) -> str:
        """Pay someone."""
        return f"paid {to}"

    return tool_policy(pay, effect="write", approval=approval)


def agent_of(url: str, script: list[Any], tools: list[BaseTool] | None = None, **settings: Any) -> Agent[Any]:
    """An agent that plays this script on this storage."""
    return Agent(ScriptedModel(script), tools or [], settings=FAST.model_copy(update=settings), storage=url)


def texts(result: RunResult[Any]) -> list[str]:
    """The transcript, as texts."""
    return [message.text for message in result.messages]


def written(agent: Agent[Any], thread: str, values: dict[str, Any], node: str = "finish") -> None:
    """Write to the state as LangGraph's update_state does, which Studio uses too."""
    with agent.place.open() as storage:
        graph = agent.graph.copy(update={"checkpointer": storage.saver, "store": storage.store})
        graph.update_state({"configurable": {"thread_id": thread}}, values, as_node=node)


@pytest.fixture
def url(tmp_path: Path) -> str:
    """A SQLite storage of this test."""
    return f"sqlite:///{tmp_path}/runs.db"


def test_a_call_of_a_tool_that_is_gone_is_answered(url: str) -> None:
    """A call was sent and the process died; in the next one the tool has another name: the model is told so."""
    first = agent_of(url, [reply("", call("look", at="a"))], [reading("look", interrupted=True)])
    with pytest.raises(KeyboardInterrupt):
        first.run("x", thread="t")
    second = agent_of(url, [reply("", call("see", at="a")), "done"], [reading("see")])
    result = second.resume("t")
    assert "There is no tool called 'look'" in texts(result)[2]
    assert "see" in texts(result)[2]
    assert texts(result)[-2:] == ["saw a", "done"]


@pytest.mark.parametrize("approve", [True, False])
def test_an_approval_for_a_tool_that_is_gone_ends_in_words(approve: bool, url: str) -> None:
    """A person answers, but the tool was removed meanwhile: the call fails as that of an unknown tool."""
    first = agent_of(url, [reply("", call("pay", to="bob"))], [paying(approval=True)])
    (question,) = first.run("x", thread="t").pending
    second = agent_of(url, ["done"], [reading("look")])
    result = second.resume("t", decisions={question.id: {"type": "approve" if approve else "reject"}})
    assert "There is no tool called 'pay'" in texts(result)[2]
    assert result.answer == "done"


def test_history_may_hold_tools_that_are_not_bound(url: str) -> None:
    """A thread with calls of other tools takes its next turn with none of them."""
    agent_of(url, [reply("", call("look", at="a")), "one"], [reading("look")]).run("x", thread="t")
    result = agent_of(url, ["two"]).run("y", thread="t")
    assert texts(result) == ["x", "", "saw a", "one", "y", "two"]


def test_another_model_and_another_prompt_go_on(url: str) -> None:
    """An unfinished run goes on under the new model and prompt; the transcript is kept as it was."""
    first = agent_of(url, [reply("", call("look", at="a"))], [reading("look", interrupted=True)])
    with pytest.raises(KeyboardInterrupt):
        first.run("x", thread="t")
    model = ScriptedModel(["done"])
    settings = FAST.model_copy(update={"system_prompt": "Be a pirate."})
    result = Agent(model, [reading("look")], settings=settings, storage=url).resume("t")
    assert texts(result) == ["x", "", "saw a", "done"]
    assert "pirate" in model.requests[0].messages[0].text


@pytest.mark.parametrize(("change", "words"), [({"format": FORMAT + 1}, "newer Loopwright"),
                                               ({"format": OLDEST_FORMAT - 1}, "older Loopwright"),
                                               (None, "older Loopwright")])  # fmt: skip
def test_other_formats_are_refused_at_every_door(change: dict[str, Any] | None, words: str, url: str) -> None:
    """A thread in a layout that is not read is refused by run, resume, fork, prune and export, and stays as it was."""
    agent = agent_of(url, ["one", "two"])
    agent.run("x", thread="t")
    with agent.place.open() as storage:
        graph = agent.graph.copy(update={"checkpointer": storage.saver, "store": storage.store})
        run = graph.get_state({"configurable": {"thread_id": "t"}}).values["run"]
    other = {**run, **change} if change else {key: value for key, value in run.items() if key != "format"}
    written(agent, "t", {"run": other})
    history = agent.history("t")

    def export() -> None:
        with agent.place.open() as storage:
            export_thread(storage, "t")

    def compact() -> None:
        with agent.place.open() as storage:
            prune(storage, "t", "t2")

    doors: list[Callable[[], object]] = [
        lambda: agent.run("y", thread="t"),
        lambda: agent.resume("t"),
        lambda: agent.fork("t", history[-1].checkpoint),
        export,
        compact,
    ]
    for door in doors:
        with pytest.raises(UsageError, match=words):
            door()
    assert agent.history("t") == history


def ahead(agent: Agent[Any], thread: str, seconds: float) -> None:
    """Write the thread's head once more, as a machine would whose clock is so many seconds ahead."""
    with agent.place.open() as storage:
        head = storage.saver.get_tuple({"configurable": {"thread_id": thread}})
        assert head is not None
        ticks = int((time.time() + seconds) * 1e7) + 0x01B21DD213814000
        number = (ticks >> 28 << 96) | ((ticks >> 12 & 0xFFFF) << 80) | (6 << 76) | ((ticks & 0xFFF) << 64) | 1 << 63
        checkpoint = {**copy_checkpoint(head.checkpoint), "id": str(UUID(int=number))}
        storage.saver.put(head.config, checkpoint, head.metadata, {})  # type: ignore[arg-type]


def test_the_time_of_a_checkpoint_is_read_from_its_id(url: str) -> None:
    """The id's time is the time of writing; ids of other kinds have none."""
    agent = agent_of(url, ["one"])
    agent.run("x", thread="t")
    for entry in agent.history("t"):
        assert written_at(entry.checkpoint) == pytest.approx(entry.at.timestamp(), abs=0.05)
    assert written_at("abc") == written_at("550e8400-e29b-41d4-a716-446655440000") == 0


def test_a_clock_that_is_far_behind_is_refused(url: str) -> None:
    """No door writes under a clock that is behind the newest checkpoint: what it wrote would never be seen again."""
    agent = agent_of(url, ["one", "two"])
    agent.run("x", thread="t")
    ahead(agent, "t", 3_600)
    head = agent.history("t")[-1].checkpoint
    doors: list[Callable[[], object]] = [
        lambda: agent.run("y", thread="t"),
        lambda: asyncio.run(agent.arun("y", thread="t")),
        lambda: agent.resume("t"),
        lambda: agent.fork("t", head),
    ]
    for door in doors:
        with pytest.raises(UsageError, match=r"clock of this machine is \d+ seconds behind.*set the clock right"):
            door()
    assert agent.history("t")[-1].checkpoint == head


@pytest.mark.parametrize("door", ["sync", "async"])
def test_a_clock_that_is_a_little_behind_is_waited_for(door: str, url: str) -> None:
    """The turn begins once the clock has passed the newest checkpoint, and is kept."""
    agent = agent_of(url, ["one", "two", "three"])
    agent.run("x", thread="t")
    ahead(agent, "t", 0.3)
    result = agent.run("y", thread="t") if door == "sync" else asyncio.run(agent.arun("y", thread="t"))
    assert texts(result) == ["x", "one", "y", "two"]
    assert texts(agent.run("z", thread="t")) == ["x", "one", "y", "two", "z", "three"]


def thinned(path: Path, keep: int) -> None:
    """Delete all but the newest checkpoints by SQL, as a careless clean-up would."""
    with closing(sqlite3.connect(path)) as connection, connection:
        rows = connection.execute("SELECT checkpoint_id FROM checkpoints ORDER BY checkpoint_id DESC").fetchall()
        for (checkpoint,) in rows[keep:]:
            connection.execute("DELETE FROM checkpoints WHERE checkpoint_id = ?", (checkpoint,))
            connection.execute("DELETE FROM writes WHERE checkpoint_id = ?", (checkpoint,))


@pytest.mark.parametrize("keep", [1, 3, 6])
def test_lost_history_is_noticed(keep: int, url: str, tmp_path: Path) -> None:
    """A delta thread whose checkpoints were thinned out by hand is refused with what is missing, not run on less."""
    agent = agent_of(url, ["one", "two", "three"])
    agent.run("x", thread="t")
    agent.run("y", thread="t")
    thinned(tmp_path / "runs.db", keep)
    doors: list[Callable[[], object]] = [lambda: agent.run("z", thread="t"), lambda: agent.resume("t")]
    for door in doors:
        with pytest.raises(StorageError, match=r"has lost \d+ of its \d+ events.*fork"):
            door()


def test_lost_history_is_noticed_without_a_door_of_ours(url: str, tmp_path: Path) -> None:
    """A plain graph, as a server runs it, notices the same by its events, with the same sentence."""
    agent = agent_of(url, ["one", "two"])
    agent.run("x", thread="t")
    thinned(tmp_path / "runs.db", 1)
    with agent.place.open() as storage:
        graph = build_graph(ScriptedModel(["two"]), [], FAST, checkpointer=storage.saver, store=storage.store)
        with pytest.raises(LoopwrightError, match="has lost"):
            graph.invoke(
                {"messages": [HumanMessage("y")]}, {"configurable": {"thread_id": "t"}}, durability="sync"
            )  # fmt: skip


def test_lost_messages_are_told_from_an_edit(url: str) -> None:
    """Messages that only are fewer, without an edit, are a loss; removed by update_state, the run goes on."""
    agent = agent_of(url, ["one", "two", "three"])
    agent.run("x", thread="t")
    result = agent.run("y", thread="t")
    with agent.place.open() as storage:
        head = storage.saver.get_tuple({"configurable": {"thread_id": "t"}})
        assert head is not None
        run = {**head.checkpoint["channel_values"]["run"], "length": 6}
        values = {**head.checkpoint["channel_values"], "run": run}
        lost = {**copy_checkpoint(head.checkpoint), "channel_values": values}
        storage.saver.put(head.parent_config, lost, head.metadata, {})  # type: ignore[arg-type]
    with pytest.raises(StorageError, match="lost 2 of its 6 messages"):
        agent.run("z", thread="t")
    written(agent, "t", {"messages": [RemoveMessage(id=str(result.messages[-1].id))]})
    assert texts(agent.run("z", thread="t")) == ["x", "one", "y", "z", "three"]


def test_what_is_refused_is_said_in_one_sentence(url: str, tmp_path: Path) -> None:
    """The refusals above end with what to do, and hold neither a line break nor a path into the code."""
    agent = agent_of(url, ["one"])
    agent.run("x", thread="t")
    thinned(tmp_path / "runs.db", 1)
    with pytest.raises(LoopwrightError) as told:
        agent.resume("t")
    assert "\n" not in str(told.value)
    assert json.dumps(str(told.value)).count(".py") == 0
