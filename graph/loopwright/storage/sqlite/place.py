"""The place that a SQLite file is."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from loopwright.storage.background import end_background_task
from loopwright.storage.claims import Claim
from loopwright.storage.encryption import serializer
from loopwright.storage.place import Storage
from loopwright.storage.sealed_store import SealedStore
from loopwright.storage.sqlite.claims import file_claim, file_holder
from loopwright.storage.sqlite.errors import explained
from loopwright.storage.sqlite.setup import locks_beside, prepare
from loopwright.storage.threaded import threaded

BUSY_SECONDS = 30.0
"""Seconds a SQLite connection waits for another's write."""


@dataclass
class SqlitePlace:
    """Threads in one SQLite file: two connections in WAL mode, the checkpointer's and the store's.

    The checkpointer's runs with synchronous=NORMAL: a killed process loses nothing, a power cut may lose the last
    steps. The store's runs with FULL, so that `started` is on disk before any effect.
    """

    path: Path
    busy_seconds: float = BUSY_SECONDS

    @property
    def url(self) -> str:
        """The URL that names this place."""
        return f"sqlite:///{self.path}"

    @property
    def files(self) -> tuple[Path, ...]:
        """The file, what SQLite puts beside it, and the folder of the claims."""
        return (self.path, *(Path(f"{self.path}{end}") for end in ("-wal", "-shm", "-journal", ".locks")))

    def exists(self) -> bool:
        """Whether the file is there."""
        return self.path.exists()

    @contextmanager
    def open(self) -> Iterator[Storage]:
        """Checkpointer and store over two fresh connections. Raises StorageError."""
        from langgraph.checkpoint.sqlite import SqliteSaver
        from langgraph.store.sqlite import SqliteStore

        serde = serializer()
        with explained(self.path, self.busy_seconds):
            prepare(self.path, self.busy_seconds)
            runs = sqlite3.connect(self.path, check_same_thread=False, timeout=self.busy_seconds)
            effects = sqlite3.connect(
                self.path, check_same_thread=False, timeout=self.busy_seconds, isolation_level=None
            )
            try:
                runs.execute("PRAGMA synchronous=NORMAL")
                saver, store = SqliteSaver(runs, serde=serde), SqliteStore(effects)
                saver.is_setup = store.is_setup = True  # done in prepare(), under a lock
                yield Storage(saver, SealedStore(store, serde))
            finally:
                effects.close()
                runs.close()

    @asynccontextmanager
    async def aopen(self) -> AsyncIterator[Storage]:
        """Checkpointer and store over two fresh connections of this event loop. Raises StorageError."""
        import aiosqlite
        from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
        from langgraph.store.sqlite.aio import AsyncSqliteStore

        serde = serializer()
        with explained(self.path, self.busy_seconds):
            await asyncio.to_thread(prepare, self.path, self.busy_seconds)
            async with (
                aiosqlite.connect(self.path, timeout=self.busy_seconds) as runs,
                aiosqlite.connect(self.path, timeout=self.busy_seconds, isolation_level=None) as effects,
            ):
                await runs.execute("PRAGMA synchronous=NORMAL")
                saver, store = AsyncSqliteSaver(runs, serde=serde), AsyncSqliteStore(effects)
                saver.is_setup = store.is_setup = True
                try:
                    yield Storage(saver, SealedStore(store, serde))
                finally:
                    # a cancelled run may still be writing: closed in the middle, the file would stay locked for good
                    async with saver.lock, store.lock:
                        end_background_task(store)
                        await effects.close()
                        await runs.close()

    @contextmanager
    def claim(self, thread: str) -> Iterator[Claim]:
        """Hold the thread against every other process. Raises ThreadBusy with who holds it and since when."""
        with explained(self.path, self.busy_seconds), file_claim(locks_beside(self.path), thread) as claim:
            yield claim

    @asynccontextmanager
    async def aclaim(self, thread: str) -> AsyncIterator[Claim]:
        """Like `claim`, with its files out of the event loop: servers forbid them there."""
        async with threaded(self.claim(thread)) as claim:
            yield claim

    def holder(self, thread: str) -> str | None:
        """Which process holds the thread now and since when; None where none does. Raises StorageError."""
        with explained(self.path, self.busy_seconds):
            return file_holder(locks_beside(self.path), thread)

    async def aholder(self, thread: str) -> str | None:
        """Like `holder`, out of the event loop."""
        return await asyncio.to_thread(self.holder, thread)
