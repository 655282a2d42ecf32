"""The questions of all threads that wait for a person."""

from loopwright.pending import Pending, pending_of
from loopwright.storage import Storage, thread_ids
from loopwright.threads.reading import look, reader


def waiting(storage: Storage) -> list[Pending]:
    """The open questions of every thread, those of the thread that changed last first."""
    graph = reader(storage)
    return [
        question for thread in thread_ids(storage) for question in pending_of(thread, look(graph, thread).interrupts)
    ]
