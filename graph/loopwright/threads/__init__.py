"""The threads of a storage: listed, searched, told step by step, forked, copied, kept in files, deleted."""

from loopwright.threads.copying import prune
from loopwright.threads.deleting import delete
from loopwright.threads.files import ThreadFile, export_thread, import_thread
from loopwright.threads.forking import Edit, fork, permit_repeats
from loopwright.threads.history import HistoryEntry, history
from loopwright.threads.listing import ThreadInfo, ThreadStatus, list_threads, search
from loopwright.threads.waiting import waiting

__all__ = [
    "Edit",
    "HistoryEntry",
    "ThreadFile",
    "ThreadInfo",
    "ThreadStatus",
    "delete",
    "export_thread",
    "fork",
    "history",
    "import_thread",
    "list_threads",
    "permit_repeats",
    "prune",
    "search",
    "waiting",
]
