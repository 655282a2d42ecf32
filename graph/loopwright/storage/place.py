"""What an open storage is, and the place that opens it: the one interface of memory, file and server."""

from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.store.base import BaseStore

from loopwright.storage.claims import Claim


@dataclass(frozen=True)
class Storage:
    """An open storage: LangGraph's checkpointer for the runs, its store for the journal and long results."""

    saver: BaseCheckpointSaver[Any]
    store: BaseStore


class Place(Protocol):
    """Where threads are kept. Opened per call: no connection and no event loop is held in between."""

    @property
    def url(self) -> str:
        """The URL that names this place, never with a password."""
        ...

    def exists(self) -> bool:
        """Whether threads may be kept here already; asks no server and creates nothing."""
        ...

    def open(self) -> AbstractContextManager[Storage]:
        """Checkpointer and store, until the context ends. Raises StorageError."""
        ...

    def aopen(self) -> AbstractAsyncContextManager[Storage]:
        """Checkpointer and store for this event loop, until the context ends. Raises StorageError."""
        ...

    def claim(self, thread: str) -> AbstractContextManager[Claim]:
        """Hold the thread against every other run. Raises ThreadBusy with who holds it and since when."""
        ...

    def aclaim(self, thread: str) -> AbstractAsyncContextManager[Claim]:
        """Like `claim`, awaiting."""
        ...

    def holder(self, thread: str) -> str | None:
        """Which process holds the thread now and since when; None where none does. Raises StorageError."""
        ...

    async def aholder(self, thread: str) -> str | None:
        """Like `holder`, awaiting."""
        ...
