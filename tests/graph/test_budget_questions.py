"""Questions about a run's budget: asked at each limit, extended or not."""

from typing import Any

import pytest
from langchain_core.tools import BaseTool, tool
from langgraph.types import Command

from loopwright import Agent, Settings, tool_policy
from loopwright.errors import UsageError
from loopwright.settings import ModelSettings, ToolSettings
from loopwright.testing import ScriptedModel, call, reply


def fast(**changes: Any) -> Settings:
    """Settings without delays; `changes` are of the tools."""
    return Settings(model=ModelSettings(retry_delay=0), tools=ToolSettings(retry_delay=0, **changes))


def looking(log: list[str]) -> BaseTool:
    """A reading tool that keeps what it did in `log`."""

    @tool
    def look(at: str) -> str:
        """Look at something."""
        log.append(at)
        return f"saw {at}"

    return tool_policy(look, effect="read")


LIMITS = [("model_calls", {"max_model_calls": 1}), ("tool_calls", {"max_tool_calls": 1}), ("tokens", {"max_tokens": 5}),
          ("seconds", {"max_seconds": 1e-6})]  # fmt: skip


@pytest.mark.parametrize(("limit", "changes"), LIMITS)
@pytest.mark.parametrize("how", ["approve", "edit", "extend", "reject"])
def test_a_budget_is_extended_or_not(limit: str, changes: dict[str, Any], how: str) -> None:
    """At each limit the run pauses; approving, editing or `extend` lets it end, rejecting closes it, each said."""
    script: list[Any] = [reply("", call("look", at="1")), "all"]
    settings = fast().model_copy(update={**changes, "on_limit": "ask"})
    agent = Agent(ScriptedModel(script), [looking([])], settings=settings)
    (asked,) = agent.run("x", thread="t").pending
    assert (asked.kind, asked.about.split(":")[:2], asked.allowed) == (
        "budget", ["budget", limit], ("approve", "edit", "reject"),
    )  # fmt: skip
    if how == "extend":
        result = agent.resume("t", extend={limit: 1000})
    elif how == "edit":
        result = agent.resume("t", decisions={asked.id: {"type": "edit", "args": {limit: 1000}}})
    else:
        result = agent.resume("t", decisions={asked.id: {"type": how}})
        while result.pending and how == "approve":
            result = agent.resume("t", decisions={each.id: {"type": how} for each in result.pending})
    assert result.answer == "all"
    assert result.stop is not None
    assert result.stop["reason"] == ("answered" if how != "reject" else limit)


def test_a_proposed_budget_is_one_that_helps() -> None:
    """What is proposed is more than what is used, though a single reply can pass a limit by far."""
    settings = fast().model_copy(update={"max_tokens": 1, "on_limit": "ask"})
    agent = Agent(ScriptedModel([reply("", call("look", at="1")), "all"]), [looking([])], settings=settings)
    paused = agent.run("x", thread="t")
    used = paused.usage.tokens_in + paused.usage.tokens_out
    assert paused.pending[0].call["args"]["tokens"] >= 2 * used


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        ({"model_calls": 1}, "already used up"),
        ({"wishes": 3}, "no limit called 'wishes'"),
        ({"model_calls": "many"}, "has to be a number"),
        ({"model_calls": True}, "has to be a number"),
    ],
)
def test_a_bad_extension_is_refused(args: dict[str, Any], sentence: str) -> None:
    """A limit that does not exist, is used up or is no number is refused at the door; over the graph it asks again."""
    settings = fast().model_copy(update={"max_model_calls": 1, "on_limit": "ask"})
    agent = Agent(ScriptedModel([reply("", call("look", at="1")), "all"]), [looking([])], settings=settings)
    (asked,) = agent.run("x", thread="t").pending
    with pytest.raises(UsageError, match=sentence):
        agent.resume("t", decisions={asked.id: {"type": "edit", "args": args}})
    with agent.place.open() as storage:
        graph = agent.graph.copy(update={"checkpointer": storage.saver, "store": storage.store})
        config: Any = {"configurable": {"thread_id": "t"}}
        graph.invoke(Command(resume={"type": "edit", "args": args}), config, durability="sync")
    (again,) = agent.pending("t")
    assert sentence in again.problem
    assert agent.resume("t", decisions={again.id: {"type": "approve"}}).answer == "all"
