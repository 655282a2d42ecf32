"""Agent: the doors of the library. Each is one core, driven sync or async."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self
from uuid import uuid4

from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool
from langgraph.types import StateSnapshot

from loopwright.delivery import Decisions, Request, Task
from loopwright.errors import SettingsError, UnknownThread, UsageError
from loopwright.graph import build_graph
from loopwright.policies import Policy
from loopwright.report import RunReport, fold_report
from loopwright.results import Pending, RunResult, pending_of
from loopwright.settings import Context, Settings
from loopwright.steps import Core, Do, adrive, drive
from loopwright.storage import place_of
from loopwright.stream import Graph, RunStream


class Agent:
    """A tool-calling agent on one storage.

    `model` is a name (`openai:gpt-4o-mini`, `offline:demo`) or any LangChain chat model; `tools` are LangChain tools or
    plain functions; `storage` is `memory:` or `sqlite:///PATH`. Raises UnknownModel, ModelFailure, SettingsError and
    StorageError; each door raises UsageError's children for what cannot be done as asked.
    """

    def __init__(
        self,
        model: str | BaseChatModel,
        tools: Sequence[BaseTool | Callable[..., Any]] = (),
        *,
        settings: Settings | None = None,
        policies: Sequence[Policy] | None = None,
        storage: str = "memory:",
        summary_model: BaseChatModel | None = None,
    ) -> None:
        self.graph: Graph = build_graph(model, tools, settings, policies=policies, summary_model=summary_model)
        self.place = place_of(storage)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        """Nothing is held between calls, so there is nothing to close."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Nothing is held between calls, so there is nothing to close."""

    def run(
        self,
        input: Task,
        *,
        thread: str | None = None,
        run_id: str | None = None,
        overrides: Mapping[str, Any] | None = None,
        user: Mapping[str, Any] | None = None,
    ) -> RunResult:
        """Run a task to its end, or to where a person is asked.

        The same `run_id` and input go on after a crash and do nothing after success. Raises DeliveryConflict,
        ThreadBusy and SettingsError.
        """
        return self.stream(input, thread=thread, run_id=run_id, overrides=overrides, user=user).finish()

    async def arun(
        self,
        input: Task,
        *,
        thread: str | None = None,
        run_id: str | None = None,
        overrides: Mapping[str, Any] | None = None,
        user: Mapping[str, Any] | None = None,
    ) -> RunResult:
        """Like `run`, awaiting."""
        return await self.astream(input, thread=thread, run_id=run_id, overrides=overrides, user=user).afinish()

    def resume(
        self,
        thread: str,
        *,
        extend: Mapping[str, float] | None = None,
        decisions: Decisions | None = None,
        run_id: str | None = None,
        overrides: Mapping[str, Any] | None = None,
    ) -> RunResult:
        """Go on with a thread: after a crash, with answers to its open questions, or under larger limits.

        `decisions` are by `Pending.id`, `extend` holds the new limits by name. Raises UnknownThread, BadDecision and
        UsageError.
        """
        return self.stream(
            thread=thread, extend=extend, decisions=decisions, run_id=run_id, overrides=overrides
        ).finish()

    async def aresume(
        self,
        thread: str,
        *,
        extend: Mapping[str, float] | None = None,
        decisions: Decisions | None = None,
        run_id: str | None = None,
        overrides: Mapping[str, Any] | None = None,
    ) -> RunResult:
        """Like `resume`, awaiting."""
        return await self.astream(
            thread=thread, extend=extend, decisions=decisions, run_id=run_id, overrides=overrides
        ).afinish()

    def stream(
        self,
        input: Task | None = None,
        *,
        thread: str | None = None,
        run_id: str | None = None,
        extend: Mapping[str, float] | None = None,
        decisions: Decisions | None = None,
        overrides: Mapping[str, Any] | None = None,
        user: Mapping[str, Any] | None = None,
    ) -> RunStream:
        """Run a task, or without one resume the thread, and hand out each event and token as it comes.

        Iterate the stream with `for` or `async for`; its `result` is there afterwards.
        """
        if input is None and thread is None:
            raise UsageError("There is nothing to run: give a task, or the thread to resume.")
        request = Request(
            thread=thread or str(uuid4()),
            task=input,
            run_id=run_id,
            extend=dict(extend) if extend else None,
            decisions=decisions,
            context=_context(overrides, user),
        )
        return RunStream(self.graph, self.place, request)

    astream = stream

    def pending(self, thread: str) -> list[Pending]:
        """The open questions of a thread, for `resume(decisions=...)`. Raises UnknownThread."""
        return drive(self._pending(thread))

    async def apending(self, thread: str) -> list[Pending]:
        """Like `pending`, awaiting."""
        return await adrive(self._pending(thread))

    def report(self, thread: str) -> RunReport:
        """What happened on a thread, as plain data. Raises UnknownThread."""
        return drive(self._report(thread))

    async def areport(self, thread: str) -> RunReport:
        """Like `report`, awaiting."""
        return await adrive(self._report(thread))

    def _pending(self, thread: str) -> Core[list[Pending]]:
        snapshot = yield from self._look(thread)
        return list(pending_of(thread, snapshot.interrupts))

    def _report(self, thread: str) -> Core[RunReport]:
        snapshot = yield from self._look(thread)
        values = snapshot.values
        return fold_report(
            thread, values.get("events", []), values.get("messages", []), pending_of(thread, snapshot.interrupts)
        )

    def _look(self, thread: str) -> Core[StateSnapshot]:
        snapshot: StateSnapshot = yield Do(self._snapshot, self._asnapshot, (thread,))
        if not snapshot.values:
            raise UnknownThread(f"There is no thread {thread!r} in {self.place.url}.")
        return snapshot

    def _snapshot(self, thread: str) -> StateSnapshot:
        with self.place.open() as storage:
            graph = self.graph.copy(update={"checkpointer": storage.saver, "store": storage.store})
            return graph.get_state({"configurable": {"thread_id": thread}})

    async def _asnapshot(self, thread: str) -> StateSnapshot:
        async with self.place.aopen() as storage:
            graph = self.graph.copy(update={"checkpointer": storage.saver, "store": storage.store})
            return await graph.aget_state({"configurable": {"thread_id": thread}})


def _context(overrides: Mapping[str, Any] | None, user: Mapping[str, Any] | None) -> Context | None:
    if not overrides and not user:
        return None
    unknown = sorted(set(overrides or {}) - set(Context.model_fields))
    if unknown:
        raise SettingsError(f"{unknown[0]!r} cannot be overridden for one run: the settings that can are "
                            f"{', '.join(sorted(set(Context.model_fields) - {'user'}))}.")  # fmt: skip
    try:
        return Context.model_validate({**(overrides or {}), "user": dict(user or {})})
    except ValueError as error:
        raise SettingsError(f"An override has a bad value: {error}") from error
