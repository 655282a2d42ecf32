"""The configured storage as LangGraph's server opens it: named by a langgraph.json, also by that of another agent."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.store.base import BaseStore

from loopwright.storage import place_of
from loopwright_studio.configuration import load_settings
from loopwright_studio.server_saver import ServerSaver


@asynccontextmanager
async def create_checkpointer() -> AsyncIterator[BaseCheckpointSaver[Any]]:
    """The checkpointer of the configured storage, for as long as the server runs."""
    configuration, _ = await asyncio.to_thread(load_settings)
    async with place_of(configuration.storage).aopen() as storage:
        yield ServerSaver(storage)


@asynccontextmanager
async def create_store() -> AsyncIterator[BaseStore]:
    """The store of the configured storage, for as long as the server runs."""
    configuration, _ = await asyncio.to_thread(load_settings)
    async with place_of(configuration.storage).aopen() as storage:
        yield storage.store
