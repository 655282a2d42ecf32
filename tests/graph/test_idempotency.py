"""Keys that a server can recognise a call by."""

import asyncio
from typing import Annotated, Any

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, InjectedToolCallId, StructuredTool, tool

from loopwright import Agent, IdempotencyKey, RunResult, Settings, tool_policy
from loopwright.errors import SettingsError
from loopwright.settings import ModelSettings, ToolSettings
from loopwright.testing import ScriptedModel, call, reply


def fast(**changes: Any) -> Settings:
    """Settings without delays; `changes` are of the tools."""
    return Settings(model=ModelSettings(retry_delay=0), tools=ToolSettings(retry_delay=0, **changes))


def results(result: RunResult) -> list[str]:
    """What the tool messages say."""
    return [message.text for message in result.messages if isinstance(message, ToolMessage)]


def keys(log: list[str]) -> BaseTool:
    """A tool that keeps the key it was given."""

    def pay(to: str, key: Annotated[str, IdempotencyKey]) -> str:
        """Pay someone."""
        log.append(key)
        if len(log) == 1:
            raise ConnectionError("dropped")
        return f"paid {to}"

    return tool_policy(StructuredTool.from_function(pay), effect="idempotent")


def test_a_tool_gets_the_key_of_its_call() -> None:
    """A call keeps its key when it is tried again; another call has another; the model neither sees nor sets one."""
    log: list[str] = []
    model = ScriptedModel([reply("", call("pay", to="bob")), reply("", call("pay", to="eve")),
                           reply("", call("pay", to="eve", key="mine")), "ok"])  # fmt: skip
    result = Agent(model, [keys(log)], settings=fast()).run("x", thread="t")
    assert log[0] == log[1] != log[2]
    assert len(log) == 3
    assert "key" not in str(model.requests[0].tools)
    assert "no argument 'key'" in results(result)[2]


def test_keys_differ_by_thread_and_work_awaited() -> None:
    """The same call id on another thread is another call; a coroutine tool gets its key as well."""
    seen: dict[str, str] = {}

    @tool
    async def pay(to: str, key: Annotated[str, IdempotencyKey]) -> str:
        """Pay someone."""
        seen[to] = key
        return "paid"

    agent = Agent(ScriptedModel([reply("", call("pay", to="a")), "ok", reply("", call("pay", to="b")), "ok"]), [pay])
    asyncio.run(agent.arun("x", thread="one"))
    agent.run("x", thread="two")
    assert len(set(seen.values())) == 2


def test_a_class_that_wants_a_key_is_refused() -> None:
    """A tool whose function cannot be wrapped says how it gets its key instead; a plain one is left alone."""

    class Pay(BaseTool):
        name: str = "pay"
        description: str = "Pay."

        def _run(self, key: Annotated[str, IdempotencyKey]) -> str:
            return key

    with pytest.raises(SettingsError, match="InjectedToolCallId"):
        Agent(ScriptedModel([]), [Pay()])

    class Plain(BaseTool):
        name: str = "plain"
        description: str = "Plain."

        def _run(self, tool_call_id: Annotated[str, InjectedToolCallId]) -> str:
            return tool_call_id

    assert Agent(ScriptedModel(["hi"]), [Plain()]).run("x").answer == "hi"
