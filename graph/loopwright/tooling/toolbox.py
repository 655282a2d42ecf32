"""Runs one call on LangGraph's ToolNode, bounded in time, sync or async, without ever raising at the machine."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from typing import Any, TypeAlias

from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.errors import GraphBubbleUp
from langgraph.prebuilt import ToolNode
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from loopwright.errors import SettingsError
from loopwright.language import Language
from loopwright.settings import ToolSettings
from loopwright.tooling.approval import check_approve
from loopwright.tooling.arguments import fitted, properties_of, unknown_names
from loopwright.tooling.bounds import Exited, TimedOut, wait_for, wait_within
from loopwright.tooling.daemons import in_daemon_thread
from loopwright.tooling.idempotency import keyed
from loopwright.tooling.outcomes import Outcome, failure_of, interrupted, outcome_of, unsure
from loopwright.tooling.policy import ToolPolicy, as_tool, effect_of, policy_of
from loopwright.tooling.returned import readable
from loopwright.tooling.wording import told

_Returned = ToolMessage | Command[Any]
Late: TypeAlias = Callable[[Outcome], None]
"""Told, in another thread, how a write ended that nobody waits for any more."""


class Toolbox:
    """The agent's tools by name, ready to run."""

    def __init__(self, tools: Sequence[BaseTool | Callable[..., Any]], settings: ToolSettings) -> None:
        """Raises SettingsError when two tools share a name or a function cannot become a tool."""
        self.tools = {tool.name: tool for tool in map(keyed, map(as_tool, tools))}
        if len(self.tools) != len(tools):
            raise SettingsError("Two tools have the same name: give each tool a name of its own.")
        check_approve(settings, self.tools)
        self.settings = settings
        self.policies = {name: policy_of(tool) for name, tool in self.tools.items()}
        self._arguments = {name: properties_of(tool) for name, tool in self.tools.items()}
        self._node = ToolNode(
            [readable(tool) for tool in self.tools.values()],
            handle_tool_errors=False,
            wrap_tool_call=self._bounded,
            awrap_tool_call=_unbounded,
        )

    def arguments(self) -> dict[str, frozenset[str]]:
        """The names of the tools' arguments by tool: what a call written as text is known by."""
        return {name: frozenset(properties) for name, (properties, _) in self._arguments.items()}

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

    def _fitted(self, call: ToolCall, language: Language) -> ToolCall | Outcome:
        """The call with arguments read as the tool's schema wants them, or the outcome of unknown names."""
        properties, open_ended = self._arguments[call["name"]]
        args = fitted(call["args"], properties)
        failure = None if open_ended else unknown_names(args, properties, language)
        if failure is not None:
            return Outcome("error", failure["text"], failure)
        return ToolCall(name=call["name"], args=args, id=call["id"], type="tool_call")

    def run(self, call: ToolCall, late: Late | None = None, language: Language = "en") -> Outcome:
        """Run a call. KeyboardInterrupt and LangGraph's own signals pass; everything else becomes an outcome.

        What it says of itself, beside what the tool says, is in this `language`.
        `late` is given what became of a write that was left behind when its time was up, or when `arun` was cancelled.
        """
        ready = self._fitted(call, language)
        if isinstance(ready, Outcome):
            return ready
        try:
            if not self._only_async(call["name"]):
                return outcome_of(self._node.invoke([ready]), language)
            # asyncio.run in a daemon thread: a sync caller may itself stand in a running loop
            work = in_daemon_thread(asyncio.run, self._alone(ready))
            return outcome_of(wait_for(work, self.timeout(call["name"])), language)
        except (GraphBubbleUp, KeyboardInterrupt):
            raise
        except BaseException as error:
            return self._failed(ready, error, language, late)

    async def arun(self, call: ToolCall, late: Late | None = None, language: Language = "en") -> Outcome:
        """Run a call like `run`; a tool that is only sync runs in a daemon thread, so that it cannot hold the exit."""
        ready = self._fitted(call, language)
        if isinstance(ready, Outcome):
            return ready
        if not self._has_async(call["name"]):
            return await self._in_thread(call, late, language)
        try:
            work = self._node.ainvoke([ready])
            returned = await wait_within(work, self.timeout(call["name"]), cancel=not self._writes(call))
            return outcome_of(returned, language)
        except (GraphBubbleUp, KeyboardInterrupt, asyncio.CancelledError):
            raise
        except BaseException as error:
            return self._failed(ready, error, language, late)

    async def _in_thread(self, call: ToolCall, late: Late | None, language: Language) -> Outcome:
        """Run a sync tool beside the event loop; it goes on when the caller is cancelled."""
        work = in_daemon_thread(self.run, call, late, language)
        try:
            return await asyncio.wrap_future(work)
        except asyncio.CancelledError:
            if late is not None and self._writes(call):
                self._when_ended(call, work, language, late)
            raise

    async def _alone(self, call: ToolCall) -> Any:
        """Run an async tool on a loop of its own; a write goes on there when its time is up."""
        work = self._node.ainvoke([call])
        return await (work if self._writes(call) else wait_within(work, self.timeout(call["name"]), cancel=True))

    def _writes(self, call: ToolCall) -> bool:
        return effect_of(self.policy(call["name"])) == "write"

    def _failed(self, call: ToolCall, error: BaseException, language: Language, late: Late | None = None) -> Outcome:
        """The outcome of a call that raised, or whose time was up: of a write nobody knows then whether it happened."""
        name = call["name"]
        if isinstance(error, Exited) and error.__cause__ is not None:
            error = error.__cause__
        if interrupted(error):
            raise KeyboardInterrupt from error
        if isinstance(error, TimedOut):
            if late is not None and error.work is not None and self._writes(call):
                self._when_ended(call, error.work, language, late)
            text = told("timeout", language, tool=name, seconds=self.timeout(name))
            late_write = self._writes(call)
            return unsure(text, language) if late_write else Outcome("error", text, {"kind": "timeout", "text": text})
        failure = failure_of(error, self.tools.get(name), language)
        if isinstance(error, TimeoutError) and self.policy(name).effect == "write":
            return unsure(failure["text"], language)
        return Outcome("error", failure["text"], failure, cause=error)

    def _when_ended(self, call: ToolCall, work: "Future[Any]", language: Language, late: Late) -> None:
        """Tell `late` what work that was left behind comes to; one that asks a person then stays unknown."""

        def ended(work: "Future[Any]") -> None:
            try:
                result = work.result()
                outcome = result if isinstance(result, Outcome) else outcome_of(result, language)
            except (GraphBubbleUp, asyncio.CancelledError):
                return
            except BaseException as error:
                if interrupted(error):
                    return
                outcome = self._failed(call, error, language)
            if outcome.status != "unknown":
                late(outcome)

        work.add_done_callback(ended)

    def _only_async(self, name: str) -> bool:
        tool = self.tools[name]
        return isinstance(tool, StructuredTool) and tool.func is None

    def _has_async(self, name: str) -> bool:
        tool = self.tools[name]
        if isinstance(tool, StructuredTool):
            return tool.coroutine is not None
        return type(tool)._arun is not BaseTool._arun

    def _bounded(self, request: ToolCallRequest, execute: Callable[[ToolCallRequest], _Returned]) -> _Returned:
        return wait_for(in_daemon_thread(execute, request), self.timeout(request.tool_call["name"]))


async def _unbounded(request: ToolCallRequest, execute: Callable[[ToolCallRequest], Awaitable[_Returned]]) -> _Returned:
    """ToolNode's async side without a bound: without it, ToolNode would run async tools through the sync wrapper."""
    return await execute(request)
