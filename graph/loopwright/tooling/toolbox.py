"""Runs one call on LangGraph's ToolNode, bounded in time, sync or async, without ever raising at the machine."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.errors import GraphBubbleUp
from langgraph.prebuilt import ToolNode
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from loopwright.errors import SettingsError
from loopwright.settings import ToolSettings
from loopwright.tooling.arguments import fitted, properties_of, unknown_names
from loopwright.tooling.daemons import in_daemon_thread
from loopwright.tooling.outcomes import Outcome, failure_of, outcome_of
from loopwright.tooling.policy import ToolPolicy, as_tool, effect_of, policy_of

_T = TypeVar("_T")
_Returned = ToolMessage | Command[Any]


class Toolbox:
    """The agent's tools by name, ready to run."""

    def __init__(self, tools: Sequence[BaseTool | Callable[..., Any]], settings: ToolSettings) -> None:
        """Raises SettingsError when two tools share a name or a function cannot become a tool."""
        self.tools = {tool.name: tool for tool in map(as_tool, tools)}
        if len(self.tools) != len(tools):
            raise SettingsError("Two tools have the same name: give each tool a name of its own.")
        self.settings = settings
        self.policies = {name: policy_of(tool) for name, tool in self.tools.items()}
        self._arguments = {name: properties_of(tool) for name, tool in self.tools.items()}
        self._node = ToolNode(
            list(self.tools.values()),
            handle_tool_errors=False,
            wrap_tool_call=self._bounded,
            awrap_tool_call=self._abounded,
        )

    def policy(self, name: str) -> ToolPolicy:
        """The policy of a tool; an empty one for an unknown tool."""
        return self.policies.get(name) or ToolPolicy()

    def timeout(self, name: str) -> float:
        """Seconds one execution of the tool may take."""
        return self.policy(name).timeout or self.settings.timeout

    def retries(self, name: str) -> int:
        """Further tries after a transient failure; none for a write."""
        policy = self.policy(name)
        if effect_of(policy) == "write":
            return 0
        return self.settings.retries if policy.retries is None else policy.retries

    def _fitted(self, call: ToolCall) -> ToolCall | Outcome:
        """The call with arguments read as the tool's schema wants them, or the outcome of unknown names."""
        properties, open_ended = self._arguments[call["name"]]
        failure = None if open_ended else unknown_names(call["args"], properties)
        if failure is not None:
            return Outcome("error", failure["text"], failure)
        return ToolCall(name=call["name"], args=fitted(call["args"], properties), id=call["id"], type="tool_call")

    def run(self, call: ToolCall) -> Outcome:
        """Run a call. KeyboardInterrupt and LangGraph's own signals pass; everything else becomes an outcome."""
        ready = self._fitted(call)
        if isinstance(ready, Outcome):
            return ready
        call = ready
        try:
            if self._only_async(call["name"]):
                # asyncio.run in a daemon thread: a sync caller may itself stand in a running loop
                work = in_daemon_thread(asyncio.run, self._node.ainvoke([call]))
                return outcome_of(_wait(work, self.timeout(call["name"])))
            return outcome_of(self._node.invoke([call]))
        except (GraphBubbleUp, KeyboardInterrupt):
            raise
        except BaseException as error:
            return self._failed(call, error)

    async def arun(self, call: ToolCall) -> Outcome:
        """Run a call like `run`; a tool that is only sync runs in a daemon thread, so that it cannot hold the exit."""
        ready = self._fitted(call)
        if isinstance(ready, Outcome):
            return ready
        call = ready
        try:
            if self._has_async(call["name"]):
                return outcome_of(await self._node.ainvoke([call]))
            return await asyncio.wrap_future(in_daemon_thread(self.run, call))
        except (GraphBubbleUp, KeyboardInterrupt, asyncio.CancelledError):
            raise
        except BaseException as error:
            return self._failed(call, error)

    def _failed(self, call: ToolCall, error: BaseException) -> Outcome:
        name = call["name"]
        if isinstance(error, TimedOut):
            text = f"{name} did not end within {self.timeout(name):g} seconds."
            if effect_of(self.policy(name)) != "write":
                return Outcome("error", text, {"kind": "timeout", "text": text})
            text = f"OUTCOME UNKNOWN: {text} It may or may not have happened: find out first."
            return Outcome("unknown", text, {"kind": "timeout", "text": text})
        failure = failure_of(error, self.tools.get(name))
        return Outcome("error", failure["text"], failure)

    def _only_async(self, name: str) -> bool:
        tool = self.tools[name]
        return isinstance(tool, StructuredTool) and tool.func is None

    def _has_async(self, name: str) -> bool:
        tool = self.tools[name]
        if isinstance(tool, StructuredTool):
            return tool.coroutine is not None
        return type(tool)._arun is not BaseTool._arun

    def _bounded(self, request: ToolCallRequest, execute: Callable[[ToolCallRequest], _Returned]) -> _Returned:
        return _wait(in_daemon_thread(execute, request), self.timeout(request.tool_call["name"]))

    async def _abounded(
        self, request: ToolCallRequest, execute: Callable[[ToolCallRequest], Awaitable[_Returned]]
    ) -> _Returned:
        task = asyncio.ensure_future(execute(request))
        done, _ = await asyncio.wait({task}, timeout=self.timeout(request.tool_call["name"]))
        if not done:
            task.cancel()
            raise TimedOut
        return task.result()


class TimedOut(Exception):
    """The tool was still running when its time was up; a TimeoutError of the tool's own is something else."""


def _wait(work: "Future[_T]", seconds: float) -> _T:
    try:
        return work.result(seconds)
    except TimeoutError:
        if work.done():
            raise
        raise TimedOut from None
