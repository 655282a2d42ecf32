"""From a storage URL to LangGraph's checkpointer and store, and the claim that only one run holds a thread."""

from loopwright.storage.claims import Claim, claimed, still_claimed
from loopwright.storage.here import kept_at, place_here
from loopwright.storage.listing import thread_ids
from loopwright.storage.memory import MemoryPlace
from loopwright.storage.place import Place, Storage
from loopwright.storage.sqlite import BUSY_SECONDS, SqlitePlace
from loopwright.storage.urls import open_storage, place_of

__all__ = [
    "BUSY_SECONDS",
    "Claim",
    "MemoryPlace",
    "Place",
    "SqlitePlace",
    "Storage",
    "claimed",
    "kept_at",
    "open_storage",
    "place_here",
    "place_of",
    "still_claimed",
    "thread_ids",
]
