"""The folder that tools may read, and the only way by which they open anything in it."""

import difflib
import errno
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from langchain_core.tools import ToolException

MAX_FILE_BYTES = 20_000_000
"""A larger file is refused: read whole, it would take seconds and several times its size in memory."""
NAMES_COMPARED = 2_000
"""Names of a folder that are compared with one that does not exist, to suggest another."""

_PROBLEMS = {
    errno.EACCES: "may not be read: the system denies access. Read another file.",
    errno.EPERM: "may not be read: the system denies access. Read another file.",
    errno.ELOOP: "is a link that leads nowhere, or was changed while it was opened. Name the file itself.",
    errno.ENAMETOOLONG: "is too long for a path. Use a name that list_files shows.",
    errno.ENXIO: "is a pipe, socket or device, neither a file nor a folder. Read another file.",
}


class Workspace:
    """A folder on disk, and what lies below it, for reading.

    What is `hidden`, such as the agent's own storage, is not there, nor is what lies below it. Links are followed as
    long as they stay inside. A hard link cannot be told from a file: make none to what is secret. Raises ValueError
    when `root` is no existing folder, or where the system cannot open a path name by name (Windows).
    Its methods raise ToolException, with a sentence for the model that never holds the folder's own place on disk.
    """

    def __init__(self, root: str | Path, hidden: Iterable[str | Path] = ()) -> None:
        if not {os.open, os.stat} <= os.supports_dir_fd:
            raise ValueError("A workspace needs Linux, macOS or another POSIX system; on Windows use WSL.")
        self.root = Path(os.path.realpath(root))
        self._hidden = frozenset(Path(os.path.realpath(path)) for path in hidden)
        if not self.root.is_dir():
            raise ValueError(f"The workspace {str(root)!r} is not a folder: create it or name another one.")

    def read(self, path: str) -> bytes:
        """The bytes of a regular file of at most MAX_FILE_BYTES."""
        with self._opened(path) as descriptor:
            status = os.fstat(descriptor)
            if stat.S_ISDIR(status.st_mode):
                raise ToolException(f"{path!r} is a folder, not a file: use list_files to see what is in it.")
            if not stat.S_ISREG(status.st_mode):
                raise ToolException(f"{path!r} {_PROBLEMS[errno.ENXIO]}")
            with open(descriptor, "rb", closefd=False) as file:
                data = file.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:  # asked of the bytes, because a file may grow or have no size, as in /proc
            raise ToolException(f"{path!r} is larger than {MAX_FILE_BYTES // 10**6} MB, too large to be read here.")
        return data

    def starts_with(self, path: str, mark: bytes) -> bool:
        """Whether this is a regular file that begins with these bytes."""
        with self._opened(path) as descriptor:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return False
            return os.read(descriptor, len(mark)) == mark

    def entries(self, path: str) -> dict[str, os.stat_result]:
        """What a folder holds: each name with its status, in which a link is a link."""
        with self._opened(path) as descriptor:
            if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
                raise ToolException(f"{path!r} is not a folder: use read_file or read_table to see what is in it.")
            folder = self.root.joinpath(*self.parts(path))
            return {name: status for name, status in _statuses(descriptor) if folder / name not in self._hidden}

    def parts(self, path: str) -> tuple[str, ...]:
        """The names from the root down to what `path` means, with links followed; it need not exist."""
        if not path.strip():
            raise ToolException('The path is empty: give a name that list_files shows, or "." for the whole workspace.')
        try:
            real = Path(os.path.realpath(self.root / path))
        except ValueError:  # a NUL byte, or what no file system can encode
            raise ToolException(f"{path[:200]!r} cannot be a path: use a name that list_files shows.") from None
        except OSError:  # what was a link when it was looked at was none any more when it was read
            raise ToolException(f"{path[:200]!r} {_PROBLEMS[errno.ELOOP]}") from None
        if not real.is_relative_to(self.root):
            raise ToolException(
                "The path leads outside the workspace, where nothing can be read: use what list_files shows."
            )
        if not self._hidden.isdisjoint([real, *real.parents]):
            raise ToolException(f"{path[:200]!r} does not exist in the workspace. Use list_files to see what does.")
        return real.relative_to(self.root).parts

    def descend(self, names: Sequence[str]) -> int:
        """An open descriptor of the file or folder that the names lead to; the caller closes it.

        Each name is opened relative to the folder before it and never through a link, so that what was swapped since
        `parts` looked cannot lead outside: OSError. A pipe or device is refused before it is opened, and O_NONBLOCK
        keeps one that is put there in between from blocking.
        """
        descriptor = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        for name in names:
            try:
                mode = os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_mode
                if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                    raise OSError(errno.ELOOP if stat.S_ISLNK(mode) else errno.ENXIO, name)
                flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
                inner = os.open(name, flags, dir_fd=descriptor)
            finally:
                os.close(descriptor)
            descriptor = inner
        return descriptor

    @contextmanager
    def _opened(self, path: str) -> Iterator[int]:
        names = self.parts(path)
        try:
            descriptor = self.descend(names)
        except OSError as error:
            raise ToolException(self._sentence(path, names, error)) from None
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def _sentence(self, path: str, names: Sequence[str], error: OSError) -> str:
        shown = repr(path if len(path) <= 200 else path[:200] + "...")
        if error.errno in _PROBLEMS:
            return f"{shown} {_PROBLEMS[error.errno]}"
        if error.errno not in (errno.ENOENT, errno.ENOTDIR):
            return f"{shown} cannot be opened: {os.strerror(error.errno or 0)}. Read another file."
        similar = self._similar(names)
        meant = f" Did you mean {similar!r}?" if similar else ""
        return f"{shown} does not exist in the workspace.{meant} Use list_files to see what does."

    def _similar(self, names: Sequence[str]) -> str | None:
        """An existing path that looks like the one asked for: in the same folder, else at the top."""
        for folder in ([*names[:-1]], []):
            try:
                descriptor = self.descend(folder)
            except OSError:
                continue
            try:
                here = self.root.joinpath(*folder)
                present = [name for name in os.listdir(descriptor)[:NAMES_COMPARED] if here / name not in self._hidden]
            except OSError:
                continue
            finally:
                os.close(descriptor)
            if names and (name := closest(names[-1], present)):
                return "/".join([*folder, name])
        return None


def closest(wanted: str, present: Sequence[str]) -> str | None:
    """The one of the names present that is most like the wanted one, case aside; None when none is like it."""
    by_folded = {name.casefold(): name for name in present}
    matches = difflib.get_close_matches(wanted.casefold(), by_folded, n=1)
    return by_folded[matches[0]] if matches else None


def _statuses(descriptor: int) -> Iterator[tuple[str, os.stat_result]]:
    for name in os.listdir(descriptor):
        try:
            yield name, os.stat(name, dir_fd=descriptor, follow_symlinks=False)
        except FileNotFoundError:
            continue  # it went while the folder was read
