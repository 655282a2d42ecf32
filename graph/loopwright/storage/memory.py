"""Threads that live as long as the process."""

import threading
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore

from loopwright.storage.claims import Claim, OwnClaim, local_time, thread_busy
from loopwright.storage.encryption import plain_serializer
from loopwright.storage.place import Storage


class WholeSaver(InMemorySaver):
    """LangGraph's saver in memory, of which nobody reads the half of what a step wrote, as of a database."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.whole = threading.RLock()

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """As LangGraph's does, at once."""
        with self.whole:
            super().put_writes(config, writes, task_id, task_path)

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """As LangGraph's does, not in the middle of a write."""
        with self.whole:
            return super().get_tuple(config)


def _fresh() -> Storage:
    return Storage(WholeSaver(serde=plain_serializer()), InMemoryStore())


@dataclass
class MemoryPlace:
    """Threads that live as long as this object."""

    url: str = "memory:"
    _storage: Storage = field(default_factory=_fresh)
    _held: dict[str, float] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def exists(self) -> bool:
        """False: no other process can have kept a thread here."""
        return False

    @contextmanager
    def open(self) -> Iterator[Storage]:
        """The one storage of this object."""
        yield self._storage

    @asynccontextmanager
    async def aopen(self) -> AsyncIterator[Storage]:
        """The one storage of this object."""
        yield self._storage

    @contextmanager
    def claim(self, thread: str) -> Iterator[Claim]:
        """Hold the thread. Raises ThreadBusy when another run of this process holds it."""
        with self._lock:
            if thread in self._held:
                raise thread_busy(thread, _this_process(self._held[thread]))
            self._held[thread] = time.time()
        try:
            yield OwnClaim()
        finally:
            del self._held[thread]

    @asynccontextmanager
    async def aclaim(self, thread: str) -> AsyncIterator[Claim]:
        """Hold the thread. Raises ThreadBusy when another run of this process holds it."""
        with self.claim(thread) as claim:
            yield claim

    def holder(self, thread: str) -> str | None:
        """This process, where a run of it holds the thread."""
        since = self._held.get(thread)
        return None if since is None else _this_process(since)

    async def aholder(self, thread: str) -> str | None:
        """Like `holder`."""
        return self.holder(thread)


def _this_process(since: float) -> str:
    return f"this process since {local_time(since)}"
