"""The place that a PostgreSQL database is."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, field

from langgraph.store.postgres import AsyncPostgresStore, PostgresStore
from psycopg import Connection
from psycopg.rows import DictRow

from loopwright.steps import adrive, drive
from loopwright.storage.background import end_background_task
from loopwright.storage.claims import Claim
from loopwright.storage.encryption import serializer
from loopwright.storage.place import Storage
from loopwright.storage.postgres.address import connection_info, without_password
from loopwright.storage.postgres.claims import held_by, holder_name, let_go, take
from loopwright.storage.postgres.errors import explained
from loopwright.storage.postgres.savers import async_saver, saver
from loopwright.storage.postgres.session import aconnected, connected
from loopwright.storage.postgres.setup import prepared
from loopwright.storage.sealed_store import SealedStore


@dataclass
class PostgresPlace:
    """Threads in a PostgreSQL database: two connections while it is open, and a third that holds a claim.

    `address` is a libpq URL; what it leaves out comes from libpq's own variables (PGPASSWORD, ...) and files. Raises
    StorageError for one that cannot be read.
    """

    address: str = field(repr=False)

    def __post_init__(self) -> None:
        self._info = connection_info(self.address, application="loopwright")

    @property
    def url(self) -> str:
        """The URL that names this place, without a password."""
        return without_password(self.address)

    def exists(self) -> bool:
        """True: whether the server holds threads is only known by asking it."""
        return True

    @contextmanager
    def open(self) -> Iterator[Storage]:
        """Checkpointer and store over two fresh connections. Raises StorageError."""
        serde = serializer()
        with explained(self.url), connected(self._info) as runs, connected(self._info) as effects:
            drive(prepared(runs, self._connect, self.url))
            yield Storage(saver(runs, serde), SealedStore(PostgresStore(effects), serde))

    @asynccontextmanager
    async def aopen(self) -> AsyncIterator[Storage]:
        """Checkpointer and store over two fresh connections of this event loop. Raises StorageError."""
        serde = serializer()
        with explained(self.url):
            async with aconnected(self._info) as runs, aconnected(self._info) as effects:
                await adrive(prepared(runs, self._connect, self.url))
                store = AsyncPostgresStore(effects)
                try:
                    yield Storage(async_saver(runs, serde), SealedStore(store, serde))
                finally:
                    end_background_task(store)

    @contextmanager
    def claim(self, thread: str) -> Iterator[Claim]:
        """Hold the thread against every other process on any machine. Raises ThreadBusy with who holds it.

        A stopped process keeps its claim; the server frees that of a killed one at once, and that of a machine which
        is gone after half a minute. A pool that shares sessions (pgbouncer per transaction) cannot keep claims.
        """
        with explained(self.url), connected(self._holder_info()) as session:
            claim = drive(take(session, thread))
            try:
                yield claim
            finally:
                drive(let_go(session))

    @asynccontextmanager
    async def aclaim(self, thread: str) -> AsyncIterator[Claim]:
        """Like `claim`, awaiting."""
        with explained(self.url):
            async with aconnected(self._holder_info()) as session:
                claim = await adrive(take(session, thread))
                try:
                    yield claim
                finally:
                    await adrive(let_go(session))

    def holder(self, thread: str) -> str | None:
        """Which process on any machine holds the thread, and since when; None where none does. Raises StorageError."""
        with explained(self.url), connected(self._info) as session:
            return drive(held_by(session, thread))

    async def aholder(self, thread: str) -> str | None:
        """Like `holder`, awaiting."""
        with explained(self.url):
            async with aconnected(self._info) as session:
                return await adrive(held_by(session, thread))

    def _connect(self) -> AbstractContextManager[Connection[DictRow]]:
        return connected(self._info)

    def _holder_info(self) -> str:
        return connection_info(self.address, application=holder_name(), holder=True)
