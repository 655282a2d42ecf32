"""Compacts a thread: its newest state, journal and results in a new thread of one or two checkpoints."""

from loopwright.errors import UsageError
from loopwright.steps import drive
from loopwright.storage import Storage
from loopwright.threads.entering import standing_of
from loopwright.threads.forking import enter_new
from loopwright.threads.reading import existing, look, reader
from loopwright.threads.stored import read_stored, write_stored


def prune(storage: Storage, thread: str, into: str) -> None:
    """Copy where a thread stands now into a new one, without its history; the old one is left for `delete`.

    Everything goes on there as it would have here: the next turn, an extension, an unfinished run, whose open questions
    are put again. (Single checkpoints are never deleted: a delta channel is read from all of them.) Raises
    UnknownThread, and UsageError when `into` exists.
    """
    graph = reader(storage)
    found = existing(graph, thread)
    if look(graph, into).metadata is not None:
        raise UsageError(f"Thread {into!r} exists already: name one that does not.")
    # before the thread: it must not go on without its journal
    drive(write_stored(storage.store, into, drive(read_stored(storage.store, thread))))
    drive(enter_new(graph, into, standing_of(found)))
