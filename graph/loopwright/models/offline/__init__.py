"""Models that need no network and are no language models: one that follows rules, one that repeats itself."""

from loopwright.models.offline.demo import OfflineDemo
from loopwright.models.offline.looper import OfflineLooper

__all__ = ["OfflineDemo", "OfflineLooper"]
