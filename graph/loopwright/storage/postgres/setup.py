"""Makes a PostgreSQL database ready: tables set up once, another program's left alone, a newer layout refused."""

import asyncio
import time
from collections.abc import Callable
from contextlib import AbstractContextManager

from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.store.postgres import PostgresStore
from psycopg import Connection
from psycopg.rows import DictRow

from loopwright.errors import StorageError
from loopwright.steps import Core, Do, drive
from loopwright.storage.postgres.session import Session, ask

_TABLES = """
SELECT to_regclass('checkpoints') IS NOT NULL AS checkpoints, to_regclass('store') IS NOT NULL AS store,
       to_regclass('checkpoint_migrations') IS NOT NULL AS runs_set_up,
       to_regclass('store_migrations') IS NOT NULL AS store_set_up
"""
_VERSIONS = """
SELECT (SELECT max(v) FROM checkpoint_migrations) AS runs, (SELECT max(v) FROM store_migrations) AS store
"""
_CURRENT = {"runs": len(PostgresSaver.MIGRATIONS) - 1, "store": len(PostgresStore.MIGRATIONS) - 1}
_LOCK = "SELECT pg_try_advisory_lock(hashtextextended(current_schema() || ':loopwright setup', 0)) AS taken"
_LOCK_SECONDS = 60.0
_POLL_SECONDS = 0.02

Connect = Callable[[], AbstractContextManager[Connection[DictRow]]]


def prepared(session: Session, connect: Connect, url: str) -> Core[None]:
    """Return once the tables are there and current. Raises StorageError for those of something else or newer."""
    found = yield from ask(session, _TABLES)
    if (found["checkpoints"] and not found["runs_set_up"]) or (found["store"] and not found["store_set_up"]):
        raise StorageError(f"{url} holds tables of something else, named checkpoints or store: name another database.")
    versions = (yield from ask(session, _VERSIONS)) if found["runs_set_up"] and found["store_set_up"] else {}
    for name, current in _CURRENT.items():
        if (versions.get(name) or 0) > current:
            raise StorageError(
                f"{url} was written by a newer langgraph-checkpoint-postgres: upgrade that package, or name another "
                "database."
            )
    if versions != _CURRENT:
        yield Do(_set_up, _aset_up, (connect, url))
    return None


async def _aset_up(connect: Connect, url: str) -> None:
    await asyncio.to_thread(_set_up, connect, url)  # once in a database's life: no second form of it


def _set_up(connect: Connect, url: str) -> None:
    """Create the tables under a lock: setting up in two processes at once fails.

    The lock is polled, not waited for: a waiting statement would itself hold up CREATE INDEX CONCURRENTLY.
    """
    with connect() as connection:
        end = time.monotonic() + _LOCK_SECONDS
        while not drive(ask(connection, _LOCK))["taken"]:
            if time.monotonic() > end:
                raise StorageError(
                    f"{url} has been set up by another process for {_LOCK_SECONDS:g} seconds: end that process."
                )
            time.sleep(_POLL_SECONDS)
        PostgresSaver(connection).setup()
        PostgresStore(connection).setup()
