"""A graph as LangGraph's server runs it: each run and each edit holds its thread, so that `loopwright` sees it."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TypeAlias

from langchain_core.runnables import RunnableConfig
from langgraph.pregel import Pregel
from langgraph_sdk.runtime import ServerRuntime

from loopwright.errors import ThreadBusy
from loopwright.storage import claimed, kept_at, place_of
from loopwright_studio.configuration import load_settings

AnyGraph: TypeAlias = Pregel[Any, Any, Any, Any]
Factory: TypeAlias = Callable[[RunnableConfig, ServerRuntime[Any]], AbstractAsyncContextManager[AnyGraph]]


def served(graph: AnyGraph) -> Factory:
    """What a langgraph.json names in the graph's place: this graph, run under the claim of its thread.

    The thread is claimed in the configured storage, that of `create_checkpointer`; one that another process runs is
    refused, in a run by ThreadBusy and in an edit by HTTP 409. Raises SettingsError.
    """
    place = place_of(load_settings()[0].storage)

    @asynccontextmanager
    async def graph_of(config: RunnableConfig, runtime: ServerRuntime[Any]) -> AsyncIterator[AnyGraph]:
        thread = config.get("configurable", {}).get("thread_id")
        writes = runtime.access_context in ("threads.create_run", "threads.update")
        if not (thread and writes):
            yield graph
            return
        try:
            async with place.aclaim(thread) as claim:
                yield graph.with_config(kept_at(claimed({}, claim), place))
        except ThreadBusy as error:
            if runtime.access_context == "threads.update":
                from starlette.exceptions import HTTPException  # the server's own

                raise HTTPException(409, str(error)) from error
            raise

    return graph_of
