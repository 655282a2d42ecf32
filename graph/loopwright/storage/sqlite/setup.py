"""Makes a SQLite file ready: created for its owner alone, its tables set up once, another program's left alone."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from loopwright.errors import StorageError
from loopwright.storage.encryption import plain_serializer

_OURS = {"checkpoints", "writes", "store", "store_migrations"}


def prepare(path: Path, busy_seconds: float) -> None:
    """Create the file (0600) and its tables, once, under a lock: setting up in two processes at once fails.

    Raises StorageError for a missing folder and for a database of something else, sqlite3.Error and OSError for the
    rest.
    """
    if not path.parent.is_dir():
        raise StorageError(f"The folder of sqlite:///{path} does not exist: create {path.parent} first.")
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    if not _is_set_up(path, busy_seconds):
        try:
            with FileLock(locks_beside(path) / "setup.lock", timeout=busy_seconds):
                if not _is_set_up(path, busy_seconds):
                    _set_up(path, busy_seconds)
        except Timeout as error:
            raise StorageError(
                f"{path} has been set up by another process for {busy_seconds:g} seconds: end that process."
            ) from error


def locks_beside(path: Path) -> Path:
    """The folder of the locks beside the file."""
    folder = Path(f"{path}.locks")
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def _is_set_up(path: Path, busy_seconds: float) -> bool:
    from langgraph.store.sqlite import SqliteStore

    with _connection(path, busy_seconds) as connection:
        rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        tables = {name for (name,) in rows}
        if tables and "checkpoints" not in tables and not tables <= {"store", "store_migrations"}:
            raise StorageError(f"{path} is a SQLite database of something else: name another file.")
        if not tables >= _OURS:
            return False
        (version,) = connection.execute("SELECT MAX(v) FROM store_migrations").fetchone()
        if version is not None and version >= len(SqliteStore.MIGRATIONS):
            raise StorageError(
                f"{path} was written by a newer langgraph-checkpoint-sqlite: upgrade that package, or name another "
                "file."
            )
        return bool(version == len(SqliteStore.MIGRATIONS) - 1)


def _set_up(path: Path, busy_seconds: float) -> None:
    from langgraph.checkpoint.sqlite import SqliteSaver
    from langgraph.store.sqlite import SqliteStore

    with _connection(path, busy_seconds) as connection:
        SqliteSaver(connection, serde=plain_serializer()).setup()  # sets WAL
    with _connection(path, busy_seconds) as connection:
        connection.isolation_level = None
        store = SqliteStore(connection)
        for _ in SqliteStore.MIGRATIONS:
            try:
                store.setup()
            except sqlite3.OperationalError as error:
                if "duplicate column" not in str(error):
                    raise
                _note_migration(connection)


def _note_migration(connection: sqlite3.Connection) -> None:
    """Note the migration after the newest noted one: a process was killed after it made it and before it noted it."""
    connection.execute("INSERT INTO store_migrations SELECT COALESCE(MAX(v), -1) + 1 FROM store_migrations")


@contextmanager
def _connection(path: Path, busy_seconds: float) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, check_same_thread=False, timeout=busy_seconds)) as connection:
        yield connection
