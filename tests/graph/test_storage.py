"""Storage: URL to checkpointer and store, and the errors of a SQLite file."""

import asyncio
import os
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from loopwright import Agent
from loopwright.errors import StorageError
from loopwright.storage import SqlitePlace, open_storage, place_of
from loopwright.testing import ScriptedModel


def refused(path: Path, words: str) -> None:
    """Opening the file and running on it, sync and async, are each refused with these words, in one line."""
    place = SqlitePlace(path, busy_seconds=0.05)
    with pytest.raises(StorageError, match=words) as caught, place.open():
        pass
    assert len(str(caught.value).splitlines()) == 1

    async def opens() -> None:
        async with place.aopen():
            pass

    with pytest.raises(StorageError, match=words):
        asyncio.run(opens())


def written(path: Path) -> Path:
    """A file with a thread in it."""
    Agent(ScriptedModel(["an answer"]), storage=f"sqlite:///{path}").run("x", thread="t")
    return path


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that others can reach, which pytest's own are not."""
    with tempfile.TemporaryDirectory(prefix="storage-") as folder:
        yield Path(folder)
        Path(folder).chmod(0o700)


@contextmanager
def as_nobody() -> Iterator[None]:
    """Without the rights of root, who may write everywhere."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(before)


def test_a_file_is_created_for_its_owner_alone(tmp_path: Path) -> None:
    """The database is 0600, its locks 0700; WAL mode; the checkpointer is NORMAL, the store FULL."""
    path = tmp_path / "runs.db"
    with open_storage(f"sqlite:///{path}") as storage:
        runs, effects = storage.saver.conn, storage.store.inner.conn  # type: ignore[attr-defined]
        assert runs.execute("PRAGMA synchronous").fetchone() == (1,)
        assert effects.execute("PRAGMA synchronous").fetchone() == (2,)
        assert runs.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(Path(f"{path}.locks").stat().st_mode) == 0o700


@pytest.mark.parametrize("url", ["mysql://x", "sqlite://", "runs.db", "sqlite:///"])
def test_unknown_urls_are_refused(url: str) -> None:
    """The error names the URL and the forms that are understood."""
    with pytest.raises(StorageError, match=f"{url}.*sqlite:///PATH"):
        place_of(url)


def test_a_place_knows_whether_it_may_hold_threads(tmp_path: Path) -> None:
    """Memory never does, a file once it is there; asking creates nothing."""
    place = place_of(f"sqlite:///{tmp_path}/runs.db")
    assert (place_of("memory:").exists(), place.exists()) == (False, False)
    assert list(tmp_path.iterdir()) == []
    with place.open():
        pass
    assert place.exists()


def test_what_is_no_database_of_ours_is_refused(tmp_path: Path) -> None:
    """A text file, another program's database and a missing folder each give one sentence, and stay untouched."""
    text = tmp_path / "notes.db"
    text.write_text("not a database, but long enough to be one" * 40)
    foreign = tmp_path / "foreign.db"
    with closing(sqlite3.connect(foreign)) as connection:
        connection.execute("CREATE TABLE songs (name)")
    before = foreign.read_bytes()
    refused(text, "cannot be read as a database")
    refused(foreign, "something else")
    refused(tmp_path / "no" / "x.db", "does not exist: create")
    assert foreign.read_bytes() == before


def test_a_locked_file(tmp_path: Path) -> None:
    """A process that writes for longer than we wait: the time and what to do."""
    path = written(tmp_path / "runs.db")
    agent = Agent(ScriptedModel(["more"]), storage=f"sqlite:///{path}")
    agent.place = SqlitePlace(path, busy_seconds=0.05)
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageError, match=r"stayed locked for 0\.05 seconds: end the process"):
            agent.run("y", thread="t")
        with pytest.raises(StorageError, match="stayed locked"):
            asyncio.run(agent.arun("y", thread="t"))


def test_a_damaged_file(tmp_path: Path) -> None:
    """Pages overwritten behind a sound header: it is damaged, restore a copy."""
    path = written(tmp_path / "runs.db")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = path.read_bytes()
    path.write_bytes(content[:100] + b"\xff" * (len(content) - 100))
    refused(path, "damaged")


def test_a_file_without_rights(open_folder: Path) -> None:
    """A file that only others may write, a folder where nothing can be created, and one that cannot be entered."""
    path = written(open_folder / "runs.db")
    Path(f"{path}.locks").chmod(0o755)
    open_folder.chmod(0o777)
    path.chmod(0o444)
    agent = Agent(ScriptedModel(["more"]), storage=f"sqlite:///{path}")
    with as_nobody(), pytest.raises(StorageError, match=r"runs\.db.*(read-only|cannot be opened)"):
        agent.run("y", thread="t")
    open_folder.chmod(0o555)
    with as_nobody():
        refused(open_folder / "new.db", "cannot be opened .Permission denied")
    open_folder.chmod(0o000)
    with as_nobody():
        refused(path, "cannot be opened .Permission denied")


def test_a_file_of_a_newer_package(tmp_path: Path) -> None:
    """A layout that this version's package does not know asks for the newer one."""
    path = written(tmp_path / "runs.db")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("INSERT INTO store_migrations (v) VALUES (999)")
    refused(path, "written by a newer langgraph-checkpoint-sqlite")
