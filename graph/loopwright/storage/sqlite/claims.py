"""Claims beside a SQLite file: one lock file a thread, which the system frees when its process dies."""

import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

from filelock import FileLock, Timeout

from loopwright.storage.claims import Claim, OwnClaim, local_time, thread_busy


@contextmanager
def file_claim(folder: Path, thread: str) -> Iterator[Claim]:
    """Hold the thread against every other process. Raises ThreadBusy with who holds it and since when.

    A stopped process keeps its claim, a killed one has lost it at once. The lock file is never removed: another
    process may just be opening it.
    """
    lock, holder = _files(folder, thread)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise thread_busy(thread, _named(holder)) from None
    try:
        holder.write_text(json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "since": time.time()}))
        yield OwnClaim()
    finally:
        with suppress(OSError):
            holder.unlink()
        lock.release()


def file_holder(folder: Path, thread: str) -> str | None:
    """Which process holds the thread and since when; None where none does.

    The lock itself is tried only where the file beside it names a process that may be a later one with its number, so
    that whoever looks takes no claim from a run that is just beginning.
    """
    lock, holder = _files(folder, thread)
    if not holder.exists() or _is_gone(holder):
        return None
    try:
        with lock.acquire(timeout=0):
            return None
    except Timeout:
        return _named(holder)


def _files(folder: Path, thread: str) -> tuple[FileLock, Path]:
    """The lock of a thread, and the file beside it that names who holds it."""
    name = sha256(thread.encode("utf-8", "surrogatepass")).hexdigest()
    return FileLock(folder / f"{name}.lock", thread_local=False), folder / f"{name}.json"


def _is_gone(holder: Path) -> bool:
    """Whether the process that the file names has certainly ended: it was one of this machine, and there is none."""
    if os.name != "posix":  # elsewhere asking by signal 0 ends the process
        return False
    try:
        found = json.loads(holder.read_text())
        if found["host"] != socket.gethostname():
            return False
        os.kill(found["pid"], 0)
    except ProcessLookupError:
        return True
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return False


def _named(holder: Path) -> str:
    """Who holds a claim, as far as the file beside the lock tells."""
    try:
        found = json.loads(holder.read_text())
        return f"process {found['pid']} on {found['host']} since {local_time(found['since'])}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
