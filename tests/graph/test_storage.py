"""Storage: URL to checkpointer and store, claims, and clear errors."""

import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from loopwright.errors import StorageError, ThreadBusy
from loopwright.storage import open_storage, place_of


def test_a_file_is_created_for_its_owner_alone(tmp_path: Path) -> None:
    """The database is 0600 and in WAL mode; the checkpointer is NORMAL, the store FULL."""
    path = tmp_path / "runs.db"
    with open_storage(f"sqlite:///{path}") as storage:
        assert storage.saver.conn.execute("PRAGMA synchronous").fetchone() == (1,)  # type: ignore[attr-defined]
        assert storage.store.conn.execute("PRAGMA synchronous").fetchone() == (2,)  # type: ignore[attr-defined]
        assert storage.saver.conn.execute("PRAGMA journal_mode").fetchone() == ("wal",)  # type: ignore[attr-defined]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("url", ["mysql://x", "sqlite://", "runs.db", "sqlite:///"])
def test_unknown_urls_are_refused(url: str) -> None:
    """The error names the URL and the forms that are understood."""
    with pytest.raises(StorageError, match="sqlite:///PATH"):
        place_of(url)


def test_what_is_no_database_of_ours_is_refused(tmp_path: Path) -> None:
    """A text file, another program's database and a missing folder each give one sentence, and stay untouched."""
    text = tmp_path / "notes.db"
    text.write_text("not a database, but long enough to be one" * 40)
    foreign = tmp_path / "foreign.db"
    with sqlite3.connect(foreign) as connection:
        connection.execute("CREATE TABLE songs (name)")
    before = foreign.read_bytes()
    for path, words in (
        (text, "cannot be read"),
        (foreign, "something else"),
        (tmp_path / "no" / "x.db", "does not exist"),
    ):
        with pytest.raises(StorageError, match=words), open_storage(f"sqlite:///{path}"):
            pass
    assert foreign.read_bytes() == before


@pytest.mark.parametrize("url", ["memory:", "sqlite:///{}/runs.db"])
def test_one_run_holds_a_thread(url: str, tmp_path: Path) -> None:
    """A second claim is refused while the first is held, other threads are free, and a released claim can be taken."""
    place = place_of(url.format(tmp_path))
    with place.claim("t1"):
        with pytest.raises(ThreadBusy, match="t1"), place.claim("t1"):
            pass
        with place.claim("t10"):
            pass
    with place.claim("t1"):
        pass


def test_the_holder_in_another_process_is_named(tmp_path: Path) -> None:
    """The refusal says which process holds the thread; when that process is killed the claim is free at once."""
    url = f"sqlite:///{tmp_path}/runs.db"
    code = (
        "import sys; from loopwright.storage import place_of\n"
        f"with place_of({url!r}).claim('t1'):\n    print('held', flush=True); sys.stdin.read()"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "held\n"
        with pytest.raises(ThreadBusy, match=str(child.pid)), place_of(url).claim("t1"):
            pass
    finally:
        child.kill()
        child.communicate()
    with place_of(url).claim("t1"):
        pass
