"""Threads in one SQLite file."""

from loopwright.storage.sqlite.place import BUSY_SECONDS, SqlitePlace

__all__ = ["BUSY_SECONDS", "SqlitePlace"]
