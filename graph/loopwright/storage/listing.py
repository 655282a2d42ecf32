"""Which threads an open storage holds."""

from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

from loopwright.storage.place import Storage

_NEWEST_FIRST = """
SELECT thread_id FROM checkpoints WHERE checkpoint_ns = '' GROUP BY thread_id ORDER BY MAX(checkpoint_id) DESC
"""


def thread_ids(storage: Storage) -> list[str]:
    """The ids of the threads that a storage holds, the one that changed last first."""
    if isinstance(storage.saver, InMemorySaver):
        return list(reversed(storage.saver.storage))
    connection: Any = getattr(storage.saver, "conn")  # noqa: B009 - the two other savers have one, their base has none
    rows = connection.execute(_NEWEST_FIRST).fetchall()
    return [row["thread_id"] if isinstance(row, dict) else row[0] for row in rows]
