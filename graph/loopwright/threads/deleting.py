"""Deletes a thread: its checkpoints, its journal and its results."""

from loopwright.errors import UnknownThread
from loopwright.steps import drive
from loopwright.storage import Storage
from loopwright.threads.reading import config_of
from loopwright.threads.stored import erase_stored


def delete(storage: Storage, thread: str) -> None:
    """Delete all that the storage holds of a thread. Raises UnknownThread.

    The checkpoints go first: a thread that is half deleted must not go on without the journal of what it did. Deleting
    again removes what was left. Hold the thread's claim meanwhile, so that no run writes to it.
    """
    known = storage.saver.get_tuple(config_of(thread)) is not None
    storage.saver.delete_thread(thread)
    erased = drive(erase_stored(storage.store, thread))
    if not known and not erased:
        raise UnknownThread(f"There is no thread {thread!r} in this storage.")
