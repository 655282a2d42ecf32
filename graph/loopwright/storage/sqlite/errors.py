"""What SQLite and the file system say, as one sentence that says what to do."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from loopwright.errors import StorageError


@contextmanager
def explained(path: Path, busy_seconds: float) -> Iterator[None]:
    """Raises StorageError for what goes wrong with the file inside."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise StorageError(_sentence(path, busy_seconds, str(error))) from error
    except OSError as error:
        name = str(error.filename)
        if not (name.startswith(str(path)) or name == str(path.parent)):
            raise  # not about this file: a tool's or a model server's
        raise StorageError(f"{path} cannot be opened ({error.strerror or error}): name another file.") from error


def _sentence(path: Path, busy_seconds: float, text: str) -> str:
    if "readonly" in text:
        return f"{path} is read-only: make it and its folder writable, or name another file."
    if "unable to open" in text:
        return f"{path} cannot be opened: make it and its folder readable and writable, or name another file."
    if "locked" in text:
        return f"{path} stayed locked for {busy_seconds:g} seconds: end the process that writes to it."
    if "full" in text:
        return f"{path} cannot grow, the disk is full: make room; every finished step is kept."
    if "malformed" in text:
        return f"{path} is damaged and cannot be read as a database ({text}): restore a copy, or name another file."
    return f"{path} cannot be read as a database ({text}): name another file."
