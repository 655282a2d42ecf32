"""The threads of a storage in the terminal: id, status, steps, last change, task; and what they wait for."""

from collections.abc import Sequence
from typing import Any

from loopwright.pending import Pending
from loopwright.storage import open_storage, place_of
from loopwright.threads import ThreadInfo, list_threads
from loopwright.threads.waiting import waiting
from loopwright_studio.console import Screen
from loopwright_studio.visible import one_line


def stored_threads(url: str) -> list[ThreadInfo]:
    """The threads, newest first; none where no storage is, and none is created. Raises StorageError."""
    place = place_of(url)
    return list_threads(place) if place.exists() else []


def waiting_questions(url: str) -> list[Pending]:
    """The open questions of all threads, those of the newest thread first. Raises StorageError."""
    if not place_of(url).exists():
        return []
    with open_storage(url) as storage:
        return waiting(storage)


def thread_data(info: ThreadInfo) -> dict[str, Any]:
    """A thread as plain data; the time in ISO form."""
    return {
        "thread": info.thread,
        "status": info.status,
        "steps": info.steps,
        "updated_at": info.updated_at.isoformat(),
        "task": info.task,
    }


def print_threads(screen: Screen, threads: Sequence[ThreadInfo]) -> None:
    """One line a thread; times are local."""
    if not threads:
        screen.say("No threads.")
        return
    lines = [
        (info.thread, info.status, str(info.steps), f"{info.updated_at.astimezone():%Y-%m-%d %H:%M}", info.task)
        for info in threads
    ]
    screen.columns(("thread", "status", "steps", "changed", "task"), [[*map(one_line, line)] for line in lines])
