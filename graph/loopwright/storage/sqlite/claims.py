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
    name = sha256(thread.encode("utf-8", "surrogatepass")).hexdigest()
    holder = folder / f"{name}.json"
    lock = FileLock(folder / f"{name}.lock", thread_local=False)
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


def _named(holder: Path) -> str:
    """Who holds a claim, as far as the file beside the lock tells."""
    try:
        found = json.loads(holder.read_text())
        return f"process {found['pid']} on {found['host']} since {local_time(found['since'])}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
