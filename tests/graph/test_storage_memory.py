"""What the storage in memory promises beside what every storage does."""

import threading
from collections.abc import Iterator
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple, empty_checkpoint

from loopwright.storage.memory import MemoryPlace


class Looking(list[tuple[str, Any]]):
    """Writes that let a reader look when the first of them is stored and the second is not."""

    def __init__(self, reader: threading.Thread) -> None:
        super().__init__([("events", ["e"]), ("messages", ["m"])])
        self.reader = reader

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        """The writes, one by one."""
        yield self[0]
        self.reader.start()
        self.reader.join(0.1)  # where nothing holds it back it is through long before
        yield self[1]


def test_nobody_reads_half_of_what_a_step_wrote() -> None:
    """A report of a run in progress never shows a model call without its reply."""
    place, seen = MemoryPlace(), list[CheckpointTuple | None]()
    with place.open() as storage:
        config: RunnableConfig = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
        config = storage.saver.put(config, empty_checkpoint(), {}, {})
        reader = threading.Thread(target=lambda: seen.append(storage.saver.get_tuple(config)))
        storage.saver.put_writes(config, Looking(reader), "task")
        reader.join()
    (found,) = seen
    assert found is not None
    assert [channel for _, channel, _ in found.pending_writes or []] == ["events", "messages"]
