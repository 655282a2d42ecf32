"""Forks: what an edit at an old checkpoint does, and that no write of the branch that was left happens twice."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, ToolMessage
from langchain_core.tools import BaseTool, tool

from loopwright import Agent, RunResult, Settings, tool_policy
from loopwright.errors import DeliveryConflict, ThreadBusy, UnknownCheckpoint, UnknownThread, UsageError
from loopwright.settings import ModelSettings, ToolSettings
from loopwright.testing import ScriptedModel, call, reply

FAST = Settings(model=ModelSettings(retry_delay=0), tools=ToolSettings(retry_delay=0))


def tools(log: list[str], *, approval: bool = False) -> list[BaseTool]:
    """A reading and a writing tool that keep in `log` what they did."""

    @tool
    def look(at: str) -> str:
        """Look at something."""
        log.append(f"look {at}")
        return f"saw {at}"

    @tool
    def pay(to: str) -> str:
        """Pay someone."""
        log.append(f"pay {to}")
        return f"paid {to}"

    return [tool_policy(look, effect="read"), tool_policy(pay, effect="write", approval=approval)]


def agent_of(log: list[str], *script: Any, url: str = "memory:", approval: bool = False) -> Agent[Any]:
    """An agent that plays this script with the tools above."""
    return Agent(ScriptedModel(list(script)), tools(log, approval=approval), settings=FAST, storage=url)


def wrote(agent: Agent[Any], node: str, nth: int = 0) -> str:
    """The checkpoint that a node wrote, the nth of them."""
    return [entry.checkpoint for entry in agent.history("t") if entry.node == node][nth]


def said(result: RunResult[Any]) -> list[str]:
    """The transcript, as texts."""
    return [message.text for message in result.messages]


def test_a_fork_goes_on_from_its_checkpoint(storage_url: str) -> None:
    """Without an edit the same step is made again; the new branch is the thread's, the old one stays in the history."""
    agent = agent_of([], "first", "second", url=storage_url)
    agent.run("x", thread="t")
    old = [entry.checkpoint for entry in agent.history("t")]
    head = agent.fork("t", wrote(agent, "guard"))
    assert agent.history("t")[-1].checkpoint == head
    assert agent.history("t")[-1].next == ("call_model",)
    assert said(agent.resume("t")) == ["x", "second"]
    assert {entry.checkpoint for entry in agent.history("t")} > set(old)


@pytest.mark.parametrize("node", ["", "__start__", "begin", "guard", "call_model", "execute_tools", "finish"])
def test_a_thread_can_be_forked_at_every_checkpoint(node: str) -> None:
    """Whichever node wrote it, the fork of a checkpoint leads to an answer, or to the end where it had ended."""
    agent = agent_of([], reply("", call("look", at="a")), "first", reply("", call("look", at="a")), "second")
    agent.run("x", thread="t", run_id="r1")
    agent.fork("t", wrote(agent, node))
    result = agent.resume("t")
    assert result.stop is not None
    assert result.stop["reason"] == "answered"
    assert result.run_id == "r1"
    assert said(result)[0] == "x"
    assert agent.run("x", thread="t", run_id="r1").answer == result.answer  # the delivery is known on the new branch


def test_a_text_replaces_the_task_that_the_run_works_on() -> None:
    """Before the end an edit takes the place of the user's message; the old text is no longer this delivery's."""
    agent = agent_of([], reply("", call("look", at="a")), "first", "second")
    agent.run("x", thread="t", run_id="r1")
    agent.fork("t", wrote(agent, "execute_tools"), edit="y")
    assert said(agent.resume("t")) == ["y", "", "saw a", "second"]
    with pytest.raises(DeliveryConflict):
        agent.run("x", thread="t", run_id="r1")


def test_a_text_after_the_end_is_a_new_task() -> None:
    """Where the run had ended the text begins a new run on that branch; a later turn is left behind."""
    agent = agent_of([], "one", "two", "other two")
    agent.run("first", thread="t")
    end = wrote(agent, "finish")
    agent.run("second", thread="t")
    agent.fork("t", end, edit="another second")
    result = agent.resume("t")
    assert said(result) == ["first", "one", "another second", "other two"]
    assert said(agent.resume("t")) == said(result)  # nothing is left to do
    assert agent.report("t").runs[-1].number == 2


def test_a_fork_back_to_an_end_takes_the_next_task_from_there() -> None:
    """Without an edit an ended checkpoint becomes the head: resume does nothing, and the next run starts there."""
    agent = agent_of([], "one", "two", "three")
    agent.run("first", thread="t")
    end = wrote(agent, "finish")
    agent.run("second", thread="t")
    agent.fork("t", end)
    assert said(agent.resume("t")) == ["first", "one"]
    assert said(agent.run("third", thread="t")) == ["first", "one", "third", "three"]


def test_messages_replace_by_id_and_are_added() -> None:
    """A result can be corrected, and an edited call runs in the place of the one that the model made."""
    log: list[str] = []
    agent = agent_of(log, reply("", call("look", at="a")), "first", "second", "third")
    result = agent.run("x", thread="t")
    seen = next(message for message in result.messages if isinstance(message, ToolMessage))
    agent.fork("t", wrote(agent, "execute_tools"), edit=seen.model_copy(update={"content": "saw nothing"}))
    assert said(agent.resume("t")) == ["x", "", "saw nothing", "second"]
    asked = next(message for message in result.messages if isinstance(message, AIMessage))
    changed = [{**asked.tool_calls[0], "args": {"at": "b"}}]
    agent.fork("t", wrote(agent, "call_model"), edit=[asked.model_copy(update={"tool_calls": changed})])
    assert said(agent.resume("t")) == ["x", "", "saw b", "third"]
    assert log == ["look a", "look b"]


def test_a_new_user_message_begins_a_run_and_closes_open_calls() -> None:
    """A user's message added in the middle of a run is a new input there: the open call is answered as not run."""
    log: list[str] = []
    agent = agent_of(log, reply("", call("look", at="a")), "first", "second")
    agent.run("x", thread="t", run_id="r1")
    agent.fork("t", wrote(agent, "call_model"), edit=[HumanMessage("stop, do nothing")])
    result = agent.resume("t")
    assert "stop, do nothing" in said(result)
    assert any(text.startswith("Not run") for text in said(result))
    assert (result.answer, result.run_id != "r1") == ("second", True)
    assert log == ["look a"]


def test_a_message_can_be_removed() -> None:
    """A removal shortens the transcript, and the run goes on; one of an unknown id is refused."""
    agent = agent_of([], reply("", call("look", at="a")), "one", "two", "three")
    agent.run("first", thread="t")
    result = agent.run("second", thread="t")
    head = agent.history("t")[-1].checkpoint
    agent.fork("t", head, edit=[RemoveMessage(id=str(result.messages[-1].id))])
    assert said(agent.run("third", thread="t"))[-3:] == ["second", "third", "three"]
    with pytest.raises(UsageError, match="no message 'nothing'"):
        agent.fork("t", head, edit=[RemoveMessage(id="nothing")])


def test_a_write_of_the_left_branch_is_served(storage_url: str) -> None:
    """A payment made on the branch that was left is not made again: for the same call, nor for a new one like it."""
    log: list[str] = []
    pay = reply("", call("pay", to="bob"))
    agent = agent_of(log, pay, "first", "second", pay, "third", url=storage_url)
    agent.run("x", thread="t")
    agent.fork("t", wrote(agent, "call_model"))  # the same call is open there
    assert said(agent.resume("t"))[2:] == ["paid bob", "second"]
    agent.fork("t", wrote(agent, "begin"))  # the model makes a new one
    served, answer = said(agent.resume("t"))[2:]
    assert "on another branch" in served
    assert served.endswith("paid bob")
    assert answer == "third"
    assert log == ["pay bob"]


def test_repeated_effects_happen_once_more(storage_url: str) -> None:
    """With `repeat_effects` the payment is made again on the new branch, and never twice there."""
    log: list[str] = []
    pay = reply("", call("pay", to="bob"))
    agent = agent_of(log, pay, "first", "second", pay, "third", pay, "fourth", url=storage_url)
    agent.run("x", thread="t")
    agent.fork("t", wrote(agent, "call_model"), repeat_effects=True)
    assert agent.resume("t").answer == "second"
    assert log == ["pay bob"] * 2
    agent.fork("t", wrote(agent, "begin"), repeat_effects=True)
    assert agent.resume("t").answer == "third"
    assert log == ["pay bob"] * 3
    agent.fork("t", wrote(agent, "begin"))  # the permission was another branch's
    assert agent.resume("t").answer == "fourth"
    assert log == ["pay bob"] * 3


def dying(log: list[str], deaths: list[str]) -> BaseTool:
    """A payment during which the process dies as often as `deaths` has entries, once the money is gone."""

    @tool
    def pay(to: str) -> str:
        """Pay someone."""
        log.append(f"pay {to}")
        if deaths:
            deaths.pop()
            raise KeyboardInterrupt
        return f"paid {to}"

    return tool_policy(pay, effect="write")


def test_resume_may_repeat_what_a_crash_left_open(storage_url: str) -> None:
    """A started payment is unknown to a plain resume; `repeat_effects` makes it again, and its own end is kept."""
    log: list[str] = []
    script: list[Any] = [reply("", call("pay", to="bob")), "done"]
    agent = Agent(ScriptedModel(script), [dying(log, ["once"])], settings=FAST, storage=storage_url)
    with pytest.raises(KeyboardInterrupt):
        agent.run("x", thread="t")
    result = agent.resume("t", repeat_effects=True)
    assert said(result) == ["x", "", "paid bob", "done"]
    assert log == ["pay bob"] * 2


def test_a_permission_holds_through_the_next_crash() -> None:
    """After a second crash a plain resume knows that the repeated payment was started: it is not made a third time."""
    log: list[str] = []
    script: list[Any] = [reply("", call("pay", to="bob")), "done"]
    agent = Agent(ScriptedModel(script), [dying(log, ["once", "twice"])], settings=FAST)
    with pytest.raises(KeyboardInterrupt):
        agent.run("x", thread="t")
    with pytest.raises(KeyboardInterrupt):
        agent.resume("t", repeat_effects=True)
    result = agent.resume("t")
    assert "OUTCOME UNKNOWN" in said(result)[2]
    assert log == ["pay bob"] * 2


def test_effects_are_repeated_by_a_resume_alone() -> None:
    """Together with a task or with answers the permission is refused, since questions are put again afterwards."""
    agent = agent_of([], reply("", call("pay", to="bob")), "done", approval=True)
    (question,) = agent.run("x", thread="t").pending
    with pytest.raises(UsageError, match="by a resume alone"):
        agent.resume("t", decisions={question.id: {"type": "approve"}}, repeat_effects=True)
    (again,) = agent.resume("t", repeat_effects=True).pending
    assert agent.resume("t", decisions={again.id: {"type": "approve"}}).answer == "done"


def test_a_fork_at_a_pause_asks_again() -> None:
    """A branch made where a person was asked puts the question again; what was decided before is not carried over."""
    log: list[str] = []
    agent = agent_of(log, reply("", call("pay", to="bob")), "rejected", "paid", approval=True)
    (question,) = agent.run("x", thread="t").pending
    asked_at = agent.history("t")[-1].checkpoint
    agent.resume("t", decisions={question.id: {"type": "reject"}})
    agent.fork("t", asked_at)
    (again,) = agent.resume("t").pending
    assert again.id != question.id
    assert agent.resume("t", decisions={again.id: {"type": "approve"}}).answer == "paid"
    assert log == ["pay bob"]


def test_a_fork_into_a_new_thread_leaves_the_old_one(storage_url: str) -> None:
    """The copy goes on with journal and transcript; the old thread stays as it is; an existing name is refused."""
    log: list[str] = []
    pay = reply("", call("pay", to="bob"))
    agent = agent_of(log, pay, "first", pay, "second", url=storage_url)
    before = agent.run("x", thread="t", run_id="r1")
    history = agent.history("t")
    agent.fork("t", wrote(agent, "begin"), into="a/new.one", edit="y")
    result = agent.resume("a/new.one")
    assert (said(result)[0], result.answer, result.run_id) == ("y", "second", "r1")
    assert log == ["pay bob"]
    assert agent.history("t") == history
    assert agent.resume("t").messages == before.messages
    with pytest.raises(UsageError, match="exists already"):
        agent.fork("t", wrote(agent, "begin"), into="a/new.one")


@pytest.mark.parametrize("node", ["", "__start__", "begin", "guard", "call_model", "execute_tools", "finish"])
def test_a_copy_can_be_made_of_every_checkpoint(node: str) -> None:
    """Whichever node wrote it, the copy of a checkpoint leads to an answer, or to the end where it had ended."""
    agent = agent_of([], reply("", call("look", at="a")), "first", reply("", call("look", at="a")), "second")
    agent.run("x", thread="t", run_id="r1")
    agent.fork("t", wrote(agent, node), into="copy")
    result = agent.resume("copy")
    assert result.stop is not None
    assert (result.stop["reason"], result.run_id, said(result)[0]) == ("answered", "r1", "x")
    assert "more" in said(agent.run("more", thread="copy"))


def test_async_forks_do_the_same(tmp_path: Path) -> None:
    """`afork` and `aresume` behave like their sync forms, repeated effects included."""
    log: list[str] = []
    pay = reply("", call("pay", to="bob"))
    agent = agent_of(log, pay, "first", "second", pay, "third", url=f"sqlite:///{tmp_path}/runs.db")

    async def all_of_it() -> None:
        await agent.arun("x", thread="t")
        entries = [entry for entry in await agent.ahistory("t") if entry.node in ("call_model", "begin")]
        await agent.afork("t", entries[1].checkpoint)
        assert (await agent.aresume("t")).answer == "second"
        await agent.afork("t", entries[0].checkpoint, repeat_effects=True, into="t2")
        assert (await agent.aresume("t2")).answer == "third"

    asyncio.run(all_of_it())
    assert log == ["pay bob"] * 2


def test_what_cannot_be_forked_is_refused() -> None:
    """Unknown threads and checkpoints, empty edits and a thread that is being run: one sentence each."""
    agent = agent_of([], "first")
    agent.run("x", thread="t")
    with pytest.raises(UnknownThread, match="'nowhere'"):
        agent.fork("nowhere", "1f1ec99a-9ee5-646f-bfff-78d7dc79547d")
    with pytest.raises(UnknownCheckpoint, match=r"no checkpoint 'abc'.*history"):
        agent.fork("t", "abc")
    head = agent.history("t")[-1].checkpoint
    edits: list[Any] = ["", "  ", []]
    for empty in edits:
        with pytest.raises(UsageError, match="edit is empty"):
            agent.fork("t", head, edit=empty)
    with agent.place.claim("t"), pytest.raises(ThreadBusy):
        agent.fork("t", head)


def test_a_call_that_was_edited_stays_edited(storage_url: str) -> None:
    """Served from the journal after a fork it is told with the arguments that ran, not with those of the model."""
    log: list[str] = []
    script = [reply("", call("pay", to="bob")), "first", "second"]
    agent = agent_of(log, *script, url=storage_url, approval=True)
    (asked,) = agent.run("x", thread="t").pending
    edited = agent.resume("t", decisions={asked.id: {"type": "edit", "args": {"to": "carol"}}})
    before = next(each.checkpoint for each in agent.history("t") if each.next == ("execute_tools",))
    agent.fork("t", before)
    result = agent.resume("t")
    assert (log, result.answer, result.pending) == (["pay carol"], "second", ())
    assert result.messages[2].text == edited.messages[2].text
    (made,) = agent.report("t").runs[-1].rounds[0].calls
    assert (made.args, made.edited, made.result) == ({"to": "carol"}, True, result.messages[2].text)
