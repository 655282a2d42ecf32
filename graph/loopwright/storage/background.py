"""The background task that LangGraph's asynchronous stores start and never end."""

import asyncio

from langgraph.store.base.batch import AsyncBatchedBaseStore


def end_background_task(store: AsyncBatchedBaseStore) -> None:
    """End the store's task, which would else outlive its connection."""
    task: asyncio.Task[None] | None = getattr(store, "_task", None)
    if task is not None:
        task.cancel()
