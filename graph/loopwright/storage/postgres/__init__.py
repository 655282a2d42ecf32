"""Threads in a PostgreSQL database. Imported only for a URL that names one: the driver is an extra."""

from loopwright.storage.postgres.place import PostgresPlace

__all__ = ["PostgresPlace"]
