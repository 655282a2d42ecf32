"""One run, from its claim on the thread to its result, with what it says on the way."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeAlias

from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import StateSnapshot

from loopwright.delivery import DONE, Plan, Request, plan
from loopwright.errors import UsageError
from loopwright.results import RunResult, Token, result_of
from loopwright.settings import Context
from loopwright.state import Event, Input, Output, State
from loopwright.steps import Core, Do, adrive, drive
from loopwright.storage import Place

Graph: TypeAlias = CompiledStateGraph[State, Context, Input, Output]


class RunStream:
    """One run as it happens: iterate for events and tokens; `result` is set at the end."""

    def __init__(self, graph: Graph, place: Place, request: Request) -> None:
        self._graph, self._place, self._request = graph, place, request
        self._result: RunResult | None = None

    @property
    def thread(self) -> str:
        """The thread that runs."""
        return self._request.thread

    @property
    def result(self) -> RunResult:
        """The run's result. Raises UsageError while the stream is not exhausted."""
        if self._result is None:
            raise UsageError("The run has no result yet: iterate its stream to the end first.")
        return self._result

    def __iter__(self) -> Iterator[Event | Token]:
        """Run, handing out what happens."""
        with self._opened() as (graph, todo):
            if todo.input is not DONE:
                options = _options(self._request, ["custom", "messages"])
                for mode, part in graph.stream(todo.input, todo.config, **options):
                    if (item := _item(mode, part)) is not None:
                        yield item
            self._result = drive(_conclude(graph, self.thread))

    async def __aiter__(self) -> AsyncIterator[Event | Token]:
        """Run, handing out what happens."""
        async with self._aopened() as (graph, todo):
            if todo.input is not DONE:
                options = _options(self._request, ["custom", "messages"])
                async for mode, part in graph.astream(todo.input, todo.config, **options):
                    if (item := _item(mode, part)) is not None:
                        yield item
            self._result = await adrive(_conclude(graph, self.thread))

    def finish(self) -> RunResult:
        """Run to the end without handing anything out."""
        with self._opened() as (graph, todo):
            if todo.input is not DONE:
                graph.invoke(todo.input, todo.config, **_options(self._request, []))
            self._result = drive(_conclude(graph, self.thread))
        return self._result

    async def afinish(self) -> RunResult:
        """Run to the end without handing anything out."""
        async with self._aopened() as (graph, todo):
            if todo.input is not DONE:
                await graph.ainvoke(todo.input, todo.config, **_options(self._request, []))
            self._result = await adrive(_conclude(graph, self.thread))
        return self._result

    @contextmanager
    def _opened(self) -> Iterator[tuple[Graph, Plan]]:
        """Claim the thread, open the storage, look at the thread, and plan what the graph is given."""
        with self._place.claim(self.thread), self._place.open() as storage:
            graph = self._graph.copy(update={"checkpointer": storage.saver, "store": storage.store})
            yield graph, plan(graph.get_state(_config(self.thread)), self._request, self._place.url)

    @asynccontextmanager
    async def _aopened(self) -> AsyncIterator[tuple[Graph, Plan]]:
        with self._place.claim(self.thread):
            async with self._place.aopen() as storage:
                graph = self._graph.copy(update={"checkpointer": storage.saver, "store": storage.store})
                yield graph, plan(await graph.aget_state(_config(self.thread)), self._request, self._place.url)


def _config(thread: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread}}


def _options(request: Request, modes: list[str]) -> dict[str, Any]:
    options: dict[str, Any] = {"durability": "sync", "context": request.context}
    return {**options, "stream_mode": modes} if modes else options


def _item(mode: str, part: Any) -> Event | Token | None:
    """An event of the custom stream, or a token: a piece of a reply, or a whole one that was not streamed."""
    if mode == "custom":
        event: Event = part
        return event
    message, metadata = part
    if not isinstance(message, AIMessage) or not message.text:
        return None
    return Token(message.text, str(metadata.get("langgraph_node", "")), message.id or "")


def _conclude(graph: Graph, thread: str) -> Core[RunResult]:
    """The result that the thread holds now."""
    snapshot: StateSnapshot = yield Do(graph.get_state, graph.aget_state, (_config(thread),))
    return result_of(thread, snapshot.values, snapshot.interrupts)
