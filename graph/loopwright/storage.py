"""From a storage URL to LangGraph's checkpointer and store, and the claim that only one run holds a thread."""

import asyncio
import json
import os
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

from filelock import FileLock, Timeout
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore

from loopwright.errors import StorageError, ThreadBusy

BUSY_SECONDS = 30.0
"""Seconds a SQLite connection waits for another's write."""


@dataclass(frozen=True)
class Storage:
    """An open storage: LangGraph's checkpointer for the runs, its store for the journal and long results."""

    saver: BaseCheckpointSaver[Any]
    store: BaseStore


@dataclass
class MemoryPlace:
    """Threads that live as long as this object."""

    url: str = "memory:"
    _storage: Storage = field(default_factory=lambda: Storage(InMemorySaver(serde=_serde()), InMemoryStore()))
    _locks: dict[str, threading.Lock] = field(default_factory=dict)

    @contextmanager
    def open(self) -> Iterator[Storage]:
        """The one storage of this object."""
        yield self._storage

    @asynccontextmanager
    async def aopen(self) -> AsyncIterator[Storage]:
        """The one storage of this object."""
        yield self._storage

    @contextmanager
    def claim(self, thread: str) -> Iterator[None]:
        """Hold the thread. Raises ThreadBusy when another run of this process holds it."""
        lock = self._locks.setdefault(thread, threading.Lock())
        if not lock.acquire(blocking=False):
            raise ThreadBusy(
                f"Thread {thread!r} is being run right now: wait for that run to end, or use another thread."
            )
        try:
            yield
        finally:
            lock.release()


@dataclass
class SqlitePlace:
    """Threads in one SQLite file: two connections in WAL mode, the checkpointer's and the store's.

    The checkpointer's runs with synchronous=NORMAL: a killed process loses nothing, a power cut may lose the last
    steps. The store's runs with FULL, so that `started` is on disk before any effect.
    """

    path: Path

    @property
    def url(self) -> str:
        """The URL that names this place."""
        return f"sqlite:///{self.path}"

    @contextmanager
    def open(self) -> Iterator[Storage]:
        """Checkpointer and store over two fresh connections. Raises StorageError."""
        from langgraph.checkpoint.sqlite import SqliteSaver
        from langgraph.store.sqlite import SqliteStore

        with self._explained():
            self._prepare()
            runs = sqlite3.connect(self.path, check_same_thread=False, timeout=BUSY_SECONDS)
            effects = sqlite3.connect(self.path, check_same_thread=False, timeout=BUSY_SECONDS, isolation_level=None)
            runs.execute("PRAGMA synchronous=NORMAL")
        try:
            saver, store = SqliteSaver(runs, serde=_serde()), SqliteStore(effects)
            saver.is_setup = store.is_setup = True  # done in _prepare, under a lock
            yield Storage(saver, store)
        except sqlite3.DatabaseError as error:
            raise self._error(error) from error
        finally:
            effects.close()
            runs.close()

    @asynccontextmanager
    async def aopen(self) -> AsyncIterator[Storage]:
        """Checkpointer and store over two fresh connections of this event loop. Raises StorageError."""
        import aiosqlite
        from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
        from langgraph.store.sqlite.aio import AsyncSqliteStore

        with self._explained():
            await asyncio.to_thread(self._prepare)
        async with (
            aiosqlite.connect(self.path, timeout=BUSY_SECONDS) as runs,
            aiosqlite.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None) as effects,
        ):
            await runs.execute("PRAGMA synchronous=NORMAL")
            saver = AsyncSqliteSaver(runs, serde=_serde())
            store = AsyncSqliteStore(effects)
            saver.is_setup = store.is_setup = True
            try:
                yield Storage(saver, store)
            except sqlite3.DatabaseError as error:
                raise self._error(error) from error
            finally:
                await _close_store(store)

    @contextmanager
    def claim(self, thread: str) -> Iterator[None]:
        """Hold the thread against every other process. Raises ThreadBusy with who holds it and since when.

        A stopped process keeps its claim, a killed one has lost it at once.
        """
        with self._explained():
            folder = self._locks()
        name = sha256(thread.encode("utf-8", "surrogatepass")).hexdigest()
        holder = folder / f"{name}.json"
        lock = FileLock(folder / f"{name}.lock", thread_local=False)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise ThreadBusy(
                f"Thread {thread!r} is being run by {_holder(holder)}: wait for that run to end, or use another thread."
            ) from None
        try:
            holder.write_text(json.dumps({"pid": os.getpid(), "since": time.time()}))
            yield
        finally:
            with suppress(OSError):
                holder.unlink()
            lock.release()

    def _locks(self) -> Path:
        """The folder of the locks beside the file."""
        folder = Path(f"{self.path}.locks")
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder

    def _prepare(self) -> None:
        """Create the file (0600) and its tables, once, under a lock: setting up in two processes at once fails."""
        if not self.path.parent.is_dir():
            raise StorageError(f"The folder of {self.url} does not exist: create {self.path.parent} first.")
        with suppress(FileExistsError):
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        if not self._is_set_up():
            with FileLock(self._locks() / "setup.lock", timeout=BUSY_SECONDS):
                if not self._is_set_up():
                    self._set_up()

    def _is_set_up(self) -> bool:
        connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS)
        try:
            rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        finally:
            connection.close()
        tables = {name for (name,) in rows}
        if tables and "checkpoints" not in tables and not tables <= {"store", "store_migrations"}:
            raise StorageError(f"{self.path} is a SQLite database of something else: name another file.")
        return {"checkpoints", "writes", "store", "store_migrations"} <= tables

    def _set_up(self) -> None:
        from langgraph.checkpoint.sqlite import SqliteSaver
        from langgraph.store.sqlite import SqliteStore

        connection = sqlite3.connect(self.path, check_same_thread=False, timeout=BUSY_SECONDS)
        try:
            SqliteSaver(connection, serde=_serde()).setup()  # sets WAL
        finally:
            connection.close()
        connection = sqlite3.connect(self.path, check_same_thread=False, timeout=BUSY_SECONDS, isolation_level=None)
        try:
            SqliteStore(connection).setup()
        finally:
            connection.close()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise self._error(error) from error
        except OSError as error:
            raise StorageError(
                f"{self.path} cannot be opened ({error.strerror or error}): name another file."
            ) from error

    def _error(self, error: sqlite3.DatabaseError) -> StorageError:
        if "readonly" in str(error):
            return StorageError(f"{self.path} is read-only: make it writable, or name another file.")
        if "locked" in str(error):
            return StorageError(
                f"{self.path} stayed locked for {BUSY_SECONDS:g} seconds: end the process that writes to it."
            )
        return StorageError(f"{self.path} cannot be read as a database ({error}): name another file.")


Place: TypeAlias = MemoryPlace | SqlitePlace
"""Where threads are kept. Opened per call: no connection and no event loop is held in between."""


def place_of(url: str) -> Place:
    """The place that a URL names: `memory:` or `sqlite:///PATH`. Raises StorageError for any other."""
    if url in ("memory:", "memory://"):
        return MemoryPlace()
    if url.startswith("sqlite:///") and len(url) > len("sqlite:///"):
        return SqlitePlace(Path(url.removeprefix("sqlite:///")).expanduser())
    raise StorageError(
        f"Storage {url!r} is not understood: write memory: or sqlite:///PATH, for instance sqlite:///runs.db."
    )


@contextmanager
def open_storage(url: str) -> Iterator[Storage]:
    """Open a storage for reading or writing outside of an agent. Raises StorageError."""
    with place_of(url).open() as storage:
        yield storage


def thread_ids(storage: Storage) -> list[str]:
    """The ids of the threads that a storage holds, the one that changed last first."""
    if isinstance(storage.saver, InMemorySaver):
        return list(reversed(storage.saver.storage))
    connection: sqlite3.Connection = getattr(storage.saver, "conn")  # noqa: B009 - only this saver has one
    rows = connection.execute(
        "SELECT thread_id FROM checkpoints WHERE checkpoint_ns = '' GROUP BY thread_id ORDER BY MAX(checkpoint_id) DESC"
    )
    return [thread for (thread,) in rows.fetchall()]


def _serde() -> JsonPlusSerializer:
    return JsonPlusSerializer(allowed_msgpack_modules=None)  # plain data only: nothing is imported while reading


def _holder(path: Path) -> str:
    """Who holds a claim, as far as its sidecar file tells."""
    try:
        holder = json.loads(path.read_text())
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(holder["since"]))
        return f"process {holder['pid']} since {since}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"


async def _close_store(store: Any) -> None:
    """End the store's background task, which would else outlive the connection."""
    task = getattr(store, "_task", None)
    if task is not None:
        task.cancel()
