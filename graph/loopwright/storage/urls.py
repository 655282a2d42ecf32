"""Which place a storage URL names."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from loopwright.errors import StorageError
from loopwright.storage.memory import MemoryPlace
from loopwright.storage.place import Place, Storage
from loopwright.storage.sqlite import SqlitePlace

_FILE = "sqlite:///"


def place_of(url: str) -> Place:
    """The place that a URL names: `memory:`, `sqlite:///PATH` or `postgresql://...`. Raises StorageError."""
    if url in ("memory:", "memory://"):
        return MemoryPlace()
    if url.startswith(_FILE) and len(url) > len(_FILE):
        return SqlitePlace(Path(url.removeprefix(_FILE)).expanduser())
    if url.startswith(("postgresql://", "postgres://")):
        return _server(url)
    shown = f"{url.partition('://')[0]}://..." if "@" in url else url  # what stands before @ may be a password
    raise StorageError(
        f"Storage {shown!r} is not understood: write memory:, sqlite:///PATH (for instance sqlite:///runs.db) or "
        "postgresql://USER:PASSWORD@HOST/DATABASE."
    )


def _server(url: str) -> Place:
    """The PostgreSQL database; its driver is an extra, imported only here."""
    try:
        from loopwright.storage.postgres import PostgresPlace
    except ImportError as error:
        raise StorageError(
            'PostgreSQL storage needs packages that are not installed: pip install "loopwright[postgres]".'
        ) from error
    return PostgresPlace(url)


@contextmanager
def open_storage(url: str) -> Iterator[Storage]:
    """Open a storage for reading or writing outside of an agent. Raises StorageError."""
    with place_of(url).open() as storage:
        yield storage
