"""The workspace: whatever path is asked for, nothing outside the folder is read, and nothing blocks."""

import os
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.tools import ToolException

from loopwright_tools.workspace import MAX_FILE_BYTES, Workspace

SECRET = b"the secret"
INSIDE = ["a.txt", "./a.txt", "data/b.txt", "data/../a.txt", "data//deep/c.txt", "../ws/a.txt", "预算四月.txt"]
INSIDE += ["in.txt", "in/c.txt", "data/back.txt", "up/ws/a.txt"]
OUTSIDE = ["..", "../secret.txt", "../ws-evil/secret.txt", "data/../../secret.txt", "/etc/passwd", "/", "//etc/passwd"]
OUTSIDE += ["out.txt", "out/secret.txt", "chain/secret.txt", "up/secret.txt", "up", "in/../../../secret.txt"]
ROUNDS = 1_500
"""Reads that race against a thread which swaps what they read."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a workspace `ws` in it and, around that, what must not be read."""
    top = tmp_path_factory.mktemp("place")
    for folder in ("ws/data/deep", "ws-evil", "outside"):
        (top / folder).mkdir(parents=True)
    for secret in ("secret.txt", "ws-evil/secret.txt", "outside/secret.txt"):
        (top / secret).write_bytes(SECRET)
    for name in ("a.txt", "data/b.txt", "data/deep/c.txt", "预算四月.txt"):
        (top / "ws" / name).write_bytes(b"inside")
    links: dict[str, str | Path] = {
        "out.txt": top / "secret.txt",
        "out": top / "outside",
        "up": "..",
        "chain": "out",
        "in.txt": "data/b.txt",
        "in": "data/deep",
        "data/back.txt": "../a.txt",
        "loop": "loop",
        "nowhere": "missing.txt",
    }
    for name, target in links.items():
        (top / "ws" / name).symlink_to(target)
    os.mkfifo(top / "ws" / "pipe")
    return top


@pytest.fixture(scope="module")
def workspace(place: Path) -> Workspace:
    """The workspace in it."""
    return Workspace(place / "ws")


@pytest.mark.parametrize("path", INSIDE)
def test_files_inside_are_read(workspace: Workspace, path: str) -> None:
    """By any path that ends inside, also through links that stay inside."""
    assert workspace.read(path) == b"inside"


def test_an_absolute_path_inside_is_read(workspace: Workspace, place: Path) -> None:
    """An absolute path is as good as a relative one when it leads inside."""
    assert workspace.read(str(place / "ws" / "a.txt")) == b"inside"


@pytest.mark.parametrize("path", OUTSIDE)
def test_paths_that_lead_outside_are_refused(workspace: Workspace, place: Path, path: str) -> None:
    """Parents, absolute paths, look-alikes, links to files, folders and links: one sentence, no place on disk."""
    for use in (workspace.read, workspace.entries):
        with pytest.raises(ToolException, match="leads outside the workspace") as error:
            use(path)
        assert str(place) not in str(error.value)


def test_a_sibling_by_its_absolute_path_is_refused(workspace: Workspace, place: Path) -> None:
    """A folder whose name only begins like the workspace's is outside."""
    with pytest.raises(ToolException, match="leads outside"):
        workspace.read(str(place / "ws-evil" / "secret.txt"))


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("", "empty"),
        ("  ", "empty"),
        ("a\0b", "cannot be a path"),
        ("\ud800", "cannot be a path|does not exist"),
        ("x" * 300, "too long"),
        ("missing.txt", "does not exist.*Use list_files"),
        ("nowhere", "does not exist"),
        ("a.txt/b", "does not exist"),
        ("%2e%2e/secret.txt", "does not exist"),
        ("~", "does not exist"),
        ("loop", "a link that leads nowhere"),
        ("pipe", "a pipe, socket or device"),
        ("data", "is a folder, not a file: use list_files"),
        (".", "is a folder"),
    ],
)
def test_what_is_no_file_is_refused_with_advice(workspace: Workspace, place: Path, path: str, message: str) -> None:
    """Each reason has its sentence, which never holds the workspace's own place on disk."""
    with pytest.raises(ToolException, match=message) as error:
        workspace.read(path)
    assert str(place) not in str(error.value)
    assert len(str(error.value)) < 500


@pytest.mark.parametrize(
    ("path", "meant"),
    [("A.TXT", "a.txt"), ("data/B.txt", "data/b.txt"), ("ws/a.txt", "a.txt"), ("some/where/a.txt", "a.txt")],
)
def test_a_missing_file_is_answered_with_a_similar_one(workspace: Workspace, path: str, meant: str) -> None:
    """Case, a slip of the pen, or a folder too many: the path that exists is suggested."""
    with pytest.raises(ToolException, match=f"Did you mean '{meant}'"):
        workspace.read(path)


def test_a_folder_is_listed_with_links_as_links(workspace: Workspace) -> None:
    """Entries are the names in one folder; a file has none."""
    assert set(workspace.entries("data")) == {"b.txt", "back.txt", "deep"}
    assert set(workspace.entries("in")) == {"c.txt"}
    with pytest.raises(ToolException, match="is not a folder: use read_file"):
        workspace.entries("a.txt")
    with pytest.raises(ToolException, match="does not exist"):
        workspace.entries("missing")


def test_a_socket_is_refused() -> None:
    """A socket is neither a file nor a folder."""
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{folder}/s")
        with pytest.raises(ToolException, match="socket"):
            Workspace(folder).read("s")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_refused(tmp_path: Path) -> None:
    """What the system denies is said to be denied."""
    (tmp_path / "a.txt").touch(mode=0o000)
    with pytest.raises(ToolException, match="denies access"):
        Workspace(tmp_path).read("a.txt")


def test_a_file_may_be_as_large_as_the_limit_and_no_larger(tmp_path: Path) -> None:
    """The limit holds for the bytes there are."""
    with (tmp_path / "big").open("wb") as file:
        file.truncate(MAX_FILE_BYTES)
    assert len(Workspace(tmp_path).read("big")) == MAX_FILE_BYTES
    with (tmp_path / "big").open("ab") as file:
        file.write(b"1")
    with pytest.raises(ToolException, match="larger than 20 MB"):
        Workspace(tmp_path).read("big")


def test_a_workspace_has_to_be_a_folder(tmp_path: Path) -> None:
    """A missing folder, a file or an impossible name is refused when the workspace is made."""
    (tmp_path / "file").touch()
    for root in (tmp_path / "missing", tmp_path / "file"):
        with pytest.raises(ValueError, match="is not a folder: create it"):
            Workspace(root)
    with pytest.raises(ValueError, match="null"):
        Workspace("\0")


def test_a_workspace_may_be_named_by_a_link(place: Path, tmp_path: Path) -> None:
    """The root itself may be a link; paths through the link's name are inside."""
    (tmp_path / "link").symlink_to(place / "ws")
    linked = Workspace(tmp_path / "link")
    assert linked.read("a.txt") == b"inside"
    assert linked.read(str(tmp_path / "link" / "a.txt")) == b"inside"


@pytest.mark.parametrize("swapped", ["data", "data/deep", "data/deep/c.txt"])
def test_a_link_put_in_place_after_the_check_is_refused(tmp_path: Path, swapped: str) -> None:
    """Between looking at a path and opening it, a folder on the way or the file becomes a link outwards."""
    inside, outside = tmp_path / "ws" / "data" / "deep", tmp_path / "outside" / "deep"
    for folder in (inside, outside):
        folder.mkdir(parents=True)
        (folder / "c.txt").write_bytes(SECRET)
        (folder.parent / "c.txt").write_bytes(SECRET)
    workspace = Workspace(tmp_path / "ws")
    checked = workspace.parts("data/deep/c.txt")
    victim = tmp_path / "ws" / swapped
    victim.rename(tmp_path / "moved")
    victim.symlink_to(tmp_path / "outside" / Path(swapped).relative_to("data"))
    with pytest.raises(OSError, match=victim.name):
        workspace.descend(checked)


def test_a_pipe_put_in_place_after_the_check_is_refused(tmp_path: Path) -> None:
    """It is neither opened nor waited for."""
    workspace = Workspace(tmp_path)
    (tmp_path / "a").touch()
    checked = workspace.parts("a")
    (tmp_path / "a").unlink()
    os.mkfifo(tmp_path / "a")
    with pytest.raises(OSError, match="a"):
        workspace.descend(checked)


@pytest.fixture
def racing(tmp_path: Path) -> Iterator[Workspace]:
    """A workspace in which, as fast as can be, `a` is by turns a file, a pipe, and a link to a secret outside."""
    (tmp_path / "ws").mkdir()
    (tmp_path / "secret").write_bytes(SECRET)
    stop = threading.Event()

    def swap() -> None:
        new, victim = tmp_path / "ws" / "new", tmp_path / "ws" / "a"
        while not stop.is_set():
            new.write_bytes(b"inside")
            new.replace(victim)
            new.symlink_to(tmp_path / "secret")
            new.replace(victim)
            os.mkfifo(new)
            new.replace(victim)

    thread = threading.Thread(target=swap)
    thread.start()
    yield Workspace(tmp_path / "ws")
    stop.set()
    thread.join()


def test_no_race_gets_at_the_secret(racing: Workspace) -> None:
    """However the swaps fall, a read gives the file inside or an error, and never waits for the pipe."""
    for _ in range(ROUNDS):
        with suppress(ToolException):
            assert racing.read("a") in (b"inside", b"")  # empty: between creation and writing


def test_descriptors_are_closed(workspace: Workspace) -> None:
    """Reads, listings and refusals leave no descriptor open."""
    before = len(os.listdir("/dev/fd"))
    for path in ("a.txt", "data/deep/c.txt", "missing/x", "pipe", "data", "loop", "a.txt/b"):
        for use in (workspace.read, workspace.entries):
            with suppress(ToolException):
                use(path)
    assert len(os.listdir("/dev/fd")) == before


_NAMES = ["..", ".", "", "a.txt", "data", "deep", "b.txt", "c.txt", "secret.txt", "outside", "ws", "ws-evil"]
_LINKS = ["out.txt", "out", "up", "chain", "in.txt", "in", "back.txt", "loop", "nowhere", "pipe", "~", "\0", "\ud800"]


@given(names=st.lists(st.sampled_from(_NAMES + _LINKS) | st.text(max_size=5), max_size=8), absolute=st.booleans())
def test_nothing_outside_is_ever_read(workspace: Workspace, place: Path, names: list[str], absolute: bool) -> None:
    """Any path gives what lies inside, or a ToolException: no other error, no secret."""
    path = "/".join([str(place), *names] if absolute else names)
    with suppress(ToolException):
        assert workspace.read(path) == b"inside"
    with suppress(ToolException):
        assert "secret.txt" not in workspace.entries(path)


def test_what_is_hidden_is_not_there(tmp_path: Path) -> None:
    """It is not listed, not read, not suggested, and nothing below it, whichever way leads to it."""
    (tmp_path / "runs.db.locks").mkdir()
    for name in ("notes.txt", "runs.db", "runs.db.locks/a.lock"):
        (tmp_path / name).write_bytes(b"x")
    (tmp_path / "link.db").symlink_to("runs.db")
    workspace = Workspace(tmp_path, [tmp_path / "runs.db", tmp_path / "runs.db.locks", tmp_path / "absent"])
    assert workspace.entries(".").keys() == {"notes.txt", "link.db"}
    for path in ("runs.db", "runs.db.locks/../runs.db", "link.db", "runs.db.locks", "runs.db.locks/a.lock"):
        with pytest.raises(ToolException, match="does not exist in the workspace"):
            workspace.read(path)
    with pytest.raises(ToolException) as refusal:
        workspace.read("runs.dbs")
    assert "Did you mean" not in str(refusal.value)
    assert workspace.read("notes.txt") == b"x"
