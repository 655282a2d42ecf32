"""What LangGraph's server and Studio load: the graph without a checkpointer, and our SQLite checkpointer and store."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.store.base import BaseStore

from loopwright import build_graph
from loopwright.models import load_model
from loopwright.storage import place_of
from loopwright_studio.configuration import OFFLINE, load_settings
from loopwright_tools import default_tools

configuration, settings = load_settings()
graph = build_graph(
    load_model(
        configuration.model or OFFLINE,
        base_url=configuration.base_url,
        api_key=configuration.api_key,
        settings=settings.model,
    ),
    default_tools(configuration.workspace),
    settings,
)


@asynccontextmanager
async def create_checkpointer() -> AsyncIterator[BaseCheckpointSaver[Any]]:
    """The checkpointer of the configured storage, for as long as the server runs."""
    async with place_of(configuration.storage).aopen() as storage:
        yield storage.saver


@asynccontextmanager
async def create_store() -> AsyncIterator[BaseStore]:
    """The store of the configured storage, for as long as the server runs."""
    async with place_of(configuration.storage).aopen() as storage:
        yield storage.store
