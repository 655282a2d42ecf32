"""The history of a thread: every checkpoint, what happened there, where it leads, and the branches of forks."""

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.tools import BaseTool, tool

from loopwright import Agent, Settings, tool_policy
from loopwright.errors import UnknownThread
from loopwright.settings import ModelSettings, ToolSettings
from loopwright.testing import ScriptedModel, call, reply
from loopwright.threads import HistoryEntry

FAST = Settings(
    model=ModelSettings(retry_delay=0),
    tools=ToolSettings(retry_delay=0),
    max_model_calls=1_000,
    max_tool_calls=None,
    context_tokens=10_000_000,
)


@tool
def look(at: str) -> str:
    """Look at something."""
    return f"saw {at}"


@tool
def pay(to: str) -> str:
    """Pay someone."""
    return f"paid {to}"


TOOLS: list[BaseTool] = [tool_policy(look, effect="read"), tool_policy(pay, effect="write", approval=True)]


def agent_on(url: str, *script: Any) -> Agent[Any]:
    """An agent that plays this script."""
    return Agent(ScriptedModel(list(script)), TOOLS, settings=FAST, storage=url)


def states(agent: Agent[Any], thread: str, entries: list[HistoryEntry]) -> list[Any]:
    """LangGraph's own view of each entry's checkpoint."""
    with agent.place.open() as storage:
        graph = agent.graph.copy(update={"checkpointer": storage.saver, "store": storage.store})
        found = []
        for entry in entries:
            config: Any = {"configurable": {"thread_id": thread, "checkpoint_id": entry.checkpoint}}
            found.append(graph.get_state(config))
        return found


def test_each_checkpoint_is_told(tmp_path: Path) -> None:
    """The entries are LangGraph's checkpoints, oldest first, each with its node and one line on what happened."""
    agent = agent_on(f"sqlite:///{tmp_path}/runs.db", reply("", call("look", at="a"), call("look", at="b")), "all seen")
    agent.run("what is there?", thread="t", run_id="r1")
    told = [(entry.node, entry.text) for entry in agent.history("t")]
    assert told == [
        ("", "a task arrived"),
        ("__start__", "user: what is there?"),
        ("begin", "the run begins"),
        ("guard", "decided: call_model"),
        ("call_model", "the model calls look({'at': 'a'}), look({'at': 'b'})"),
        ("guard", "decided: execute_tools"),
        ("execute_tools+execute_tools", "look ok; look ok"),
        ("guard", "decided: call_model"),
        ("call_model", "the model says: all seen"),
        ("guard", "decided: finish (the model answered without a call)"),
        ("finish", "ended: answered"),
    ]


def test_a_chinese_thread_is_told_in_chinese() -> None:
    """What the machine says of itself follows the user's language."""
    agent = agent_on("memory:", "看到了")
    agent.run("那里有什么？", thread="t")
    assert [entry.text for entry in agent.history("t")][-3:] == [
        "模型说：看到了",
        "决定：finish（the model answered without a call）",
        "结束：answered",
    ]


def test_entries_agree_with_langgraph(storage_url: str) -> None:
    """Next nodes, parents, times, sources and pauses are what get_state says, through pauses, forks and edits."""
    calls = [call("look", at="a"), call("look", at="b")]
    agent = agent_on(storage_url, reply("", *calls), reply("", call("pay", to="bob")), "paid", "other", "more", "new")
    (question,) = agent.run("pay bob", thread="t", run_id="r1").pending
    assert agent.history("t")[-1].paused
    agent.resume("t", decisions={question.id: {"type": "approve"}})
    entries = agent.history("t")
    agent.fork("t", next(e.checkpoint for e in entries if e.node == "begin"), edit="pay alice")
    agent.resume("t")
    agent.fork("t", entries[-1].checkpoint, edit=[HumanMessage("and now?")])
    agent.resume("t")
    entries = agent.history("t")
    assert len({entry.checkpoint for entry in entries}) == len(entries) > 25
    for entry, state in zip(entries, states(agent, "t", entries), strict=True):
        assert list(entry.next) == list(state.next)
        assert entry.parent == (state.parent_config or {}).get("configurable", {}).get("checkpoint_id")
        assert entry.at.isoformat() == state.created_at
        assert entry.source == state.metadata["source"]
        assert entry.text


def test_branches_can_be_seen() -> None:
    """After a fork two entries share a parent, and `current` marks the branch that the thread is on."""
    agent = agent_on("memory:", "one", "two")
    agent.run("x", thread="t")
    before = agent.history("t")
    start = next(entry for entry in before if entry.node == "begin")
    fork = agent.fork("t", start.checkpoint, edit="y")
    agent.resume("t")
    after = agent.history("t")
    children = [entry for entry in after if entry.parent == start.checkpoint]
    assert [child.source for child in children] == ["loop", "update"]
    assert [child.current for child in children] == [False, True]
    assert children[1].checkpoint == fork
    left = {entry.checkpoint for entry in after if not entry.current}
    assert left == {entry.checkpoint for entry in before[before.index(start) + 1 :]}


def test_sync_and_async_tell_the_same(tmp_path: Path) -> None:
    """`ahistory` gives the entries of `history`; an unknown thread is refused by both."""
    agent = agent_on(f"sqlite:///{tmp_path}/runs.db", "one")
    agent.run("x", thread="t")
    assert asyncio.run(agent.ahistory("t")) == agent.history("t")
    with pytest.raises(UnknownThread, match="'nowhere'"):
        agent.history("nowhere")
    with pytest.raises(UnknownThread, match="'nowhere'"):
        asyncio.run(agent.ahistory("nowhere"))


@pytest.mark.slow
def test_the_history_of_four_hundred_rounds_takes_less_than_a_second(tmp_path: Path) -> None:
    """Some 1,600 checkpoints are told from one listing, without rebuilding a state; measured in seconds of work."""
    script = [reply("", call("look", at=str(n))) for n in range(420)]
    settings = FAST.model_copy(update={"max_model_calls": 400})
    agent = Agent(ScriptedModel(script), TOOLS, settings=settings, storage=f"sqlite:///{tmp_path}/runs.db")
    agent.graph = agent.graph.with_config(recursion_limit=10_000)
    agent.run("x", thread="t")
    started = time.process_time()
    entries = agent.history("t")
    assert time.process_time() - started < 1.0
    assert len(entries) > 1_600
