"""The ways to shorten a request, one a file: each a pure function from a view to the next view."""

from loopwright.memory.compressors.clip_newest import clip_newest
from loopwright.memory.compressors.clip_results import clip_results
from loopwright.memory.compressors.clip_user import clip_user
from loopwright.memory.compressors.drop import drop
from loopwright.memory.compressors.fold import fold, foldable
from loopwright.memory.compressors.thin_memory import thin_memory

__all__ = ["clip_newest", "clip_results", "clip_user", "drop", "fold", "foldable", "thin_memory"]
