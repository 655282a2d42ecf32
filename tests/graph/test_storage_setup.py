"""Setting up a SQLite file survives being killed at any moment of it."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from langgraph.store.sqlite import SqliteStore

from loopwright.storage import open_storage


@pytest.mark.parametrize("done", range(1, len(SqliteStore.MIGRATIONS) + 1))
@pytest.mark.parametrize("noted", [True, False])
def test_a_setup_that_was_killed_is_finished(tmp_path: Path, done: int, noted: bool) -> None:
    """So many of the store's migrations were made, the last of them noted or not: the file can be used all the same."""
    path = tmp_path / "runs.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE store_migrations (v INTEGER PRIMARY KEY)")
        for version, script in enumerate(SqliteStore.MIGRATIONS[:done]):
            connection.executescript(script)
            if noted or version < done - 1:
                connection.execute("INSERT INTO store_migrations VALUES (?)", (version,))
    with open_storage(f"sqlite:///{path}") as storage:
        storage.store.put(("a",), "k", {"v": 1})
        found = storage.store.get(("a",), "k")
    assert found is not None
    assert found.value == {"v": 1}
