"""One run, from its claim on the thread to its result, with what it says on the way."""

from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from contextlib import aclosing, asynccontextmanager, closing, contextmanager
from dataclasses import replace
from typing import Any, Generic, TypeAlias, cast

from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.constants import END
from langgraph.errors import GraphDrained
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import RunControl
from langgraph.types import StateSnapshot

from loopwright.context import Context
from loopwright.delivery import DONE, Plan, Request, plan, run_id_of
from loopwright.errors import UsageError
from loopwright.layout import SETTLED
from loopwright.results import OutputT, RunResult, Token, interruption, result_of
from loopwright.shapes import Interruption
from loopwright.soundness import check_thread
from loopwright.state import Event, Input, Output, State
from loopwright.steps import Core, Do, adrive, drive
from loopwright.storage import Place, claimed, kept_at
from loopwright.threads.forking import permit_repeats

Graph: TypeAlias = CompiledStateGraph[State, Context, Input, Output]


class RunStream(Generic[OutputT]):
    """One run as it happens: iterate for events and tokens; `result` is set at the end.

    `running` is where the stream stands under its thread while it runs, so that it can be cancelled from elsewhere.
    """

    def __init__(
        self,
        graph: Graph,
        place: Place,
        request: Request,
        output: type[OutputT] | None = None,
        running: "dict[str, RunStream[OutputT]] | None" = None,
    ) -> None:
        self._graph, self._place, self._request, self._output = graph, place, request, output
        self._running = {} if running is None else running
        self._control = RunControl()
        self.ended_by: Interruption | None = None
        """Why the run ends after the step that is running; None while nobody has asked for that."""
        self._result: RunResult[OutputT] | None = None
        self._live: AsyncGenerator[Event | Token, None] | None = None
        self.written: list[AnyMessage] = []
        """The messages that the run's nodes have written so far, in order: replies with their calls, and results."""

    @property
    def thread(self) -> str:
        """The thread that runs."""
        return self._request.thread

    @property
    def result(self) -> RunResult[OutputT]:
        """The run's result. Raises UsageError while the stream is not exhausted."""
        if self._result is None:
            raise UsageError("The run has no result yet: iterate its stream to the end first.")
        return self._result

    def cancel(self, reason: Interruption = "cancelled") -> None:
        """End the run after the step that is running, from any thread or signal handler; the thread stays resumable.

        The step's model request or tools are waited for. The result's stop reason is then `reason`.
        """
        self.ended_by = reason
        self._control.request_drain(reason)

    def __iter__(self) -> Iterator[Event | Token]:
        """Run, handing out what happens."""
        with self._opened() as (graph, todo):
            with self._drained():
                if todo.input is not DONE:
                    parts = graph.stream(todo.input, todo.config, **self._options(["custom", "messages", "updates"]))
                    with closing(cast("Generator[Any, None, None]", parts)) as live:
                        for mode, part in live:
                            if (item := self._item(mode, part)) is not None:
                                yield item
            self._result = drive(self._conclude(graph))

    def __aiter__(self) -> AsyncIterator[Event | Token]:
        """Run, handing out what happens."""
        self._live = self._happening()
        return self._live

    async def aclose(self) -> None:
        """End a run whose stream is not read to its end, and free its thread; a broken-off loop does so a bit later."""
        if self._live is not None:
            await self._live.aclose()

    async def _happening(self) -> AsyncGenerator[Event | Token, None]:
        async with self._aopened() as (graph, todo):
            with self._drained():
                if todo.input is not DONE:
                    parts = graph.astream(todo.input, todo.config, **self._options(["custom", "messages", "updates"]))
                    async with aclosing(cast("AsyncGenerator[Any, None]", parts)) as live:
                        async for mode, part in live:
                            if (item := self._item(mode, part)) is not None:
                                yield item
            self._result = await adrive(self._conclude(graph))

    def finish(self) -> RunResult[OutputT]:
        """Run to the end without handing anything out."""
        with self._opened() as (graph, todo):
            with self._drained():
                if todo.input is not DONE:
                    graph.invoke(todo.input, todo.config, **self._options([]))
            self._result = drive(self._conclude(graph))
        return self._result

    async def afinish(self) -> RunResult[OutputT]:
        """Run to the end without handing anything out."""
        async with self._aopened() as (graph, todo):
            with self._drained():
                if todo.input is not DONE:
                    await graph.ainvoke(todo.input, todo.config, **self._options([]))
            self._result = await adrive(self._conclude(graph))
        return self._result

    @contextmanager
    def _opened(self) -> Iterator[tuple[Graph, Plan]]:
        """Claim the thread, open the storage, look at the thread, and plan what the graph is given."""
        with self._place.claim(self.thread) as claim, self._place.open() as storage:
            graph = self._graph.copy(update={"checkpointer": storage.saver, "store": storage.store})
            todo = drive(self._planned(graph))
            yield graph, replace(todo, config=kept_at(claimed(todo.config, claim), self._place))

    @asynccontextmanager
    async def _aopened(self) -> AsyncIterator[tuple[Graph, Plan]]:
        async with self._place.aclaim(self.thread) as claim, self._place.aopen() as storage:
            graph = self._graph.copy(update={"checkpointer": storage.saver, "store": storage.store})
            todo = await adrive(self._planned(graph))
            yield graph, replace(todo, config=kept_at(claimed(todo.config, claim), self._place))

    @contextmanager
    def _drained(self) -> Iterator[None]:
        """While the run can be cancelled; one that is ends here, after its step."""
        self._running[self.thread] = self
        try:
            yield
        except GraphDrained:
            pass
        else:
            self.ended_by = None  # it came too late: the run has ended or waits by itself
        finally:
            del self._running[self.thread]

    def _options(self, modes: list[str]) -> dict[str, Any]:
        options: dict[str, Any] = {"durability": "sync", "context": self._request.context, "control": self._control}
        return {**options, "stream_mode": modes} if modes else options

    def _planned(self, graph: Graph) -> Core[Plan]:
        """Look at the thread, whether it can go on, and plan what the graph is given."""
        look = Do(graph.get_state, graph.aget_state, (_config(self.thread),))
        snapshot: StateSnapshot = yield look
        if isinstance(graph.checkpointer, BaseCheckpointSaver):
            yield from check_thread(graph.checkpointer, snapshot)
        if self._request.repeat_effects:
            yield from permit_repeats(graph, self.thread)
            snapshot = yield look
        todo = plan(snapshot, self._request, self._place.url)
        if todo.settles:  # under the left run's id, so that a crash before the new input changes nothing for that run
            left: RunnableConfig = {**_config(self.thread), "metadata": {"run_id": run_id_of(snapshot), SETTLED: True}}
            yield Do(graph.update_state, graph.aupdate_state, (left, None, END))
        return todo

    def _item(self, mode: str, part: Any) -> Event | Token | None:
        """An event of the custom stream, or a token: a piece of a reply, or a whole one that was not streamed."""
        if mode == "custom":
            event: Event = part
            return event
        if mode == "updates":
            for update in part.values():
                self.written += update.get("messages", ()) if isinstance(update, dict) else ()
            return None
        message, metadata = part
        if not isinstance(message, AIMessage) or not message.text:
            return None
        return Token(message.text, str(metadata.get("langgraph_node", "")), message.id or "")

    def _conclude(self, graph: Graph) -> Core[RunResult[OutputT]]:
        """The result that the thread holds now."""
        snapshot: StateSnapshot = yield Do(graph.get_state, graph.aget_state, (_config(self.thread),))
        result = result_of(self.thread, snapshot.values, snapshot.interrupts, self._output)
        if self.ended_by is None:
            return result
        return replace(result, stop=interruption(snapshot.values, self.ended_by))


def _config(thread: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread}}
