"""The report is read from the checkpointer alone, and says what LangGraph's own reading of the state says."""

import asyncio
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langchain_core.tools import BaseTool, tool

from loopwright import Agent, Settings, tool_policy
from loopwright.errors import UnknownThread
from loopwright.report.reading import Stored, read
from loopwright.settings import MemorySettings
from loopwright.steps import drive
from loopwright.testing import ScriptedModel, call, reply

CONFIG: Any = {"configurable": {"thread_id": "t"}}


def tools() -> list[BaseTool]:
    """One tool that reads, and one whose calls wait for approval."""

    @tool
    def look(at: str) -> str:
        """Look at something."""
        return f"saw {at}"

    @tool
    def pay(to: str) -> str:
        """Pay someone."""
        return f"paid {to}"

    return [tool_policy(look, effect="read"), tool_policy(pay, effect="write", approval=True)]


def both(agent: Agent) -> tuple[Stored | None, Any]:
    """The newest state as it is read for a report, and as LangGraph reads it, both at one moment of a run."""
    with agent.place.open() as storage:
        graph = agent.graph.copy(update={"checkpointer": storage.saver, "store": storage.store})
        before, stored = graph.get_state(CONFIG), drive(read(storage.saver, "t"))
        while (after := graph.get_state(CONFIG)) != before:  # the run wrote in between
            before, stored = after, drive(read(storage.saver, "t"))
        return stored, after


def assert_same(agent: Agent) -> None:
    """Log, transcript, run and open questions are those of get_state."""
    stored, snapshot = both(agent)
    values = snapshot.values
    if stored is None:
        assert not values
        return
    assert stored.events == values.get("events", [])
    assert stored.messages == values.get("messages", [])
    assert stored.run == values.get("run")
    assert [each.id for each in stored.interrupts] == [each.id for each in snapshot.interrupts]


def made(kind: str, n: int) -> Any:
    """A reply of this kind in round `n`."""
    look, pay = call("look", at=str(n)), call("pay", to=str(n))
    calls = {"look": [look], "look twice": [look, call("look", at=f"{n} again")], "pay": [pay], "both": [pay, look]}
    return reply("", *calls[kind]) if kind in calls else f"answer {n}"


ROUND = st.sampled_from(["look", "look twice", "pay", "both", "words"])


@settings(max_examples=12, deadline=None)
@given(st.lists(ROUND, max_size=5), st.booleans())
def test_what_is_read_is_the_state_at_every_moment(rounds: list[str], on_disk: bool) -> None:
    """Before, during and after a run, while it waits and when it was answered: events, messages, run, questions."""
    with tempfile.TemporaryDirectory() as folder:
        storage = f"sqlite:///{folder}/runs.db" if on_disk else "memory:"
        script = [made(kind, n) for n, kind in enumerate(rounds)]
        agent = Agent(ScriptedModel([*script, "done"]), tools(), storage=storage)
        assert_same(agent)
        for _ in agent.stream("go", thread="t"):
            assert_same(agent)
        while pending := agent.pending("t"):
            assert_same(agent)
            decisions = {question.id: {"type": "approve"} for question in pending}
            for _ in agent.stream(thread="t", decisions=decisions):
                assert_same(agent)
        assert_same(agent)


def test_a_long_thread_is_read_across_its_snapshots() -> None:
    """Two hundred rounds with compressions: the log goes over several snapshots, and is whole."""
    script = [reply("", call("look", at=f"{n} " + "x" * 400)) for n in range(210)]
    chosen = Settings(
        max_model_calls=300, max_tool_calls=300, context_tokens=4000, memory=MemorySettings(summary=False)
    )
    agent = Agent(ScriptedModel([*script, "done"]), tools(), settings=chosen)
    agent.run("go", thread="t")
    assert_same(agent)


def test_edits_are_read() -> None:
    """A replaced message, a removed one, and one that a front end wrote as a dict."""
    agent = Agent(ScriptedModel(["one"]), tools())
    agent.run("go", thread="t")
    with agent.place.open() as storage:
        graph = agent.graph.copy(update={"checkpointer": storage.saver, "store": storage.store})
        asked, said = graph.get_state(CONFIG).values["messages"]
        graph.update_state(CONFIG, {"messages": [HumanMessage("go on", id=asked.id)]})
        assert_same(agent)
        graph.update_state(CONFIG, {"messages": [RemoveMessage(id=said.id)]})
        assert_same(agent)
        edited: Any = {"messages": [{"role": "assistant", "content": "two", "id": "x"}]}
        graph.update_state(CONFIG, edited)
        assert_same(agent)
    stored, _ = both(agent)
    assert stored is not None
    assert [(type(m), m.content) for m in stored.messages] == [(HumanMessage, "go on"), (AIMessage, "two")]


def test_an_unknown_thread_is_no_report() -> None:
    """Sync and async say that there is none."""
    agent = Agent(ScriptedModel(["one"]), tools())
    with pytest.raises(UnknownThread, match="no thread 'nobody'"):
        agent.report("nobody")
    with pytest.raises(UnknownThread, match="no thread 'nobody'"):
        asyncio.run(agent.areport("nobody"))


def test_sync_and_async_read_the_same(tmp_path: Path) -> None:
    """The report of a thread is one, whoever asks for it."""
    agent = Agent(ScriptedModel([reply("", call("pay", to="bob"))]), tools(), storage=f"sqlite:///{tmp_path}/runs.db")
    agent.run("go", thread="t")
    report = agent.report("t")
    assert report == asyncio.run(agent.areport("t"))
    assert report.waiting


def test_a_finished_thread_is_read_without_langgraph(tmp_path: Path) -> None:
    """Reading imports neither the machine nor LangGraph's, whose import alone takes most of a second."""
    storage = f"sqlite:///{tmp_path}/runs.db"
    Agent(ScriptedModel([reply("", call("look", at="a")), "done"]), tools(), storage=storage).run("go", thread="t")
    program = (
        "import sys\nfrom loopwright.report import read_report\nfrom loopwright.storage import place_of\n"
        f"print(read_report(place_of({storage!r}), 't').runs[0].answer)\n"
        "print(sorted({'langgraph.pregel', 'langgraph.types', 'langsmith', 'loopwright.graph'} & {*sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["done", "[]"]
