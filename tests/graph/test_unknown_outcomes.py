"""A call whose outcome nobody knows: a person says what became of it."""

import asyncio
from typing import Any

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, tool

from loopwright import Agent, RunResult, Settings, tool_policy
from loopwright.effects import records
from loopwright.errors import BadDecision
from loopwright.settings import ModelSettings, ToolSettings
from loopwright.steps import drive
from loopwright.testing import ScriptedModel, call, reply


def fast(**changes: Any) -> Settings:
    """Settings without delays; `changes` are of the tools."""
    return Settings(model=ModelSettings(retry_delay=0), tools=ToolSettings(retry_delay=0, **changes))


def results(result: RunResult) -> list[str]:
    """What the tool messages say."""
    return [message.text for message in result.messages if isinstance(message, ToolMessage)]


def crashing(log: list[str], **policy: Any) -> BaseTool:
    """A write that hangs beyond its time, so that its outcome is not known."""

    @tool
    async def pay(to: str) -> str:
        """Pay someone."""
        log.append(to)
        await asyncio.sleep(3600)
        return "never"

    return tool_policy(pay, effect="write", timeout=0.01, **policy)


@pytest.mark.parametrize(
    ("decision", "told", "state"),
    [
        ({"type": "approve"}, "it did happen", "done"),
        ({"type": "respond", "message": "receipt 17"}, "receipt 17", "done"),
        ({"type": "reject"}, "it did not happen", None),
        ({"type": "respond", "message": ""}, "does not know either", "started"),
    ],
)
def test_a_person_says_what_became_of_a_call(decision: dict[str, Any], told: str, state: str | None) -> None:
    """What the person says is told to the model and kept in the journal.

    It happened, with or without its result; it did not; nobody knows. The effect is never fired again by itself.
    """
    log: list[str] = []
    agent = Agent(
        ScriptedModel([reply("", call("pay", to="bob")), "ok"]), [crashing(log, approval=True)], settings=fast()
    )
    (asked,) = agent.run("x", thread="t").pending
    (lost,) = agent.resume("t", decisions={asked.id: {"type": "approve"}}).pending
    assert (lost.kind, lost.call["args"]) == ("unknown", {"tool": "pay", "args": {"to": "bob"}})
    with pytest.raises(BadDecision, match="cannot be answered with edit"):
        agent.resume("t", decisions={lost.id: {"type": "edit", "args": {"to": "eve"}}})
    result = agent.resume("t", decisions={lost.id: decision})
    (text,) = results(result)
    assert result.answer == "ok"
    assert text.startswith("OUTCOME UNKNOWN")
    assert told in text
    assert log == ["bob"]
    with agent.place.open() as storage:
        journal = drive(records(storage.store, "t"))
    assert [each["state"] for each in journal] == ([state] if state else [])
    report = agent.report("t")
    assert report.runs[0].status == "completed"
    (said,) = report.runs[0].outcomes
    assert said.happened == {"done": "yes", "started": "unknown", None: "no"}[state]
    assert f"a person was asked whether it happened: {said.happened}" in [each.text for each in agent.history("t")]


def test_what_did_not_happen_may_be_done() -> None:
    """After "it did not happen" the same call is an ordinary one: asked about as its tool wants, then it runs."""
    log: list[str] = []
    times = iter([3600.0, 0.0])

    @tool
    async def pay(to: str) -> str:
        """Pay someone."""
        await asyncio.sleep(next(times))
        log.append(to)
        return f"paid {to}"

    tools = [tool_policy(pay, effect="write", timeout=0.05, approval=True)]
    agent = Agent(ScriptedModel([reply("", call("pay", to="bob"))] * 2 + ["ok"]), tools, settings=fast())
    kinds = []
    result = agent.run("x", thread="t")
    while result.pending:
        (asked,) = result.pending
        kinds.append((asked.kind, asked.description))
        result = agent.resume("t", decisions={asked.id: {"type": "reject" if asked.kind == "unknown" else "approve"}})
    assert [kind for kind, _ in kinds] == ["approval", "unknown", "approval"]
    assert kinds[2][1] == "pay asks for approval."
    assert (log, results(result)[1]) == (["bob"], "paid bob")


def test_nobody_is_asked_about_a_call_without_approval() -> None:
    """A write that asks for no approval tells the model that its outcome is unknown, and the run goes on."""
    agent = Agent(ScriptedModel([reply("", call("pay", to="bob")), "ok"]), [crashing([])], settings=fast())
    result = agent.run("x", thread="t")
    assert (result.pending, result.answer) == ((), "ok")
    assert results(result)[0].startswith("OUTCOME UNKNOWN")


def test_chinese_users_are_told_in_chinese() -> None:
    """What a person said of a call stands behind it in the language of the task."""
    agent = Agent(
        ScriptedModel([reply("", call("pay", to="bob")), "好"]), [crashing([], approval=True)], settings=fast()
    )
    (asked,) = agent.run("付款给 bob", thread="t").pending
    (lost,) = agent.resume("t", decisions={asked.id: {"type": "approve"}}).pending
    assert "已经生效" in results(agent.resume("t", decisions={lost.id: {"type": "approve"}}))[0]
