"""The checkpointer as LangGraph's server needs it: with what it asks beyond running, going back and copying."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
    create_checkpoint,
)

from loopwright.steps import adrive
from loopwright.storage import Storage
from loopwright.threads.stored import erase_stored, read_stored, write_stored


class ServerSaver(BaseCheckpointSaver[Any]):
    """The saver of a storage, which also goes back to before a run, and copies and deletes a thread with its journal.

    A single checkpoint is never deleted: a delta channel is read from all of them.
    """

    def __init__(self, storage: Storage) -> None:
        super().__init__(serde=storage.saver.serde)
        self.saver, self.store = storage.saver, storage.store
        self.going_back = asyncio.Lock()  # the server's door and its worker both ask to take a run back

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """As the saver does."""
        return await self.saver.aget_tuple(config)

    async def aget(self, config: RunnableConfig) -> Checkpoint | None:
        """As the saver does."""
        return await self.saver.aget(config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """As the saver does."""
        async for found in self.saver.alist(config, filter=filter, before=before, limit=limit):
            yield found

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """As the saver does."""
        return await self.saver.aput(config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """As the saver does."""
        await self.saver.aput_writes(config, writes, task_id, task_path)

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """As the saver does, in one query where it has one."""
        return await self.saver.aget_delta_channel_history(config=config, channels=channels)

    def get_next_version(self, current: Any, channel: None) -> Any:
        """As the saver does."""
        return self.saver.get_next_version(current, channel)

    async def adelete_thread(self, thread_id: str) -> None:
        """Delete a thread with all that the store holds of it; the server asks also at the end of a run without one.

        The checkpoints go first: a thread that is half deleted must not go on without the journal of what it did.
        """
        await self.saver.adelete_thread(thread_id)
        await adrive(erase_stored(self.store, thread_id))

    async def adelete_for_runs(self, run_ids: Iterable[str]) -> None:
        """Take each of these runs back, where it is the last of its thread: what the server's `rollback` asks for.

        The thread stands again where it stood before; the run's branch stays in its history.
        """
        for run_id in run_ids:
            async with self.going_back:
                written = [each async for each in self.saver.alist(None, filter={"run_id": run_id})]
                for thread in {_thread(each.config) for each in written}:
                    mine = [each for each in written if _thread(each.config) == thread]
                    await self._go_back(thread, sorted(mine, key=_id))

    async def _go_back(self, thread: str, run: Sequence[CheckpointTuple]) -> None:
        """Make what stood before this run, its oldest checkpoint first, the newest; a thread of it alone is emptied.

        The journal stays: what the run did stays done.
        """
        everything = [each async for each in self.saver.alist(_at(thread))]
        if max(map(_id, everything), default="") != _id(run[-1]):
            return
        parent = run[0].parent_config
        before = await self.saver.aget_tuple(parent) if parent else None
        if before is not None:
            await self._renew(thread, before)
        elif len(everything) == len(run):
            await self.saver.adelete_thread(thread)

    async def _renew(self, thread: str, old: CheckpointTuple) -> None:
        """Write this checkpoint anew beside the old one, as LangGraph's own fork does: same values, same parent."""
        metadata: CheckpointMetadata = {**old.metadata, "source": "fork"}
        new = create_checkpoint(old.checkpoint, None, old.metadata.get("step", 0))
        await self.saver.aput(old.parent_config or _at(thread), new, metadata, {})

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy a thread with its whole history, and what the store holds of it: the journal of its writes first."""
        stored = await adrive(read_stored(self.store, source_thread_id))
        await adrive(write_stored(self.store, target_thread_id, stored))
        found = [each async for each in self.saver.alist({"configurable": {"thread_id": source_thread_id}})]
        for each in sorted(found, key=_id):
            await self._copy(each, target_thread_id)

    async def _copy(self, old: CheckpointTuple, thread: str) -> None:
        """Write one checkpoint, and what was written on it in the same order, into this thread."""
        parent = _named(old.parent_config, "checkpoint_id") if old.parent_config else None
        metadata: Any = {**old.metadata, "thread_id": thread}
        config = await self.saver.aput(
            _at(thread, _named(old.config, "checkpoint_ns"), parent),
            old.checkpoint,
            metadata,
            old.checkpoint["channel_versions"],
        )
        tasks = groupby(old.pending_writes or [], key=lambda write: write[0])
        for number, (task, writes) in enumerate(tasks):
            # the path of a task is not handed out; it orders the writes of one step, and so does a number
            await self.saver.aput_writes(config, [(name, value) for _, name, value in writes], task, f"{number:08}")


def _at(thread: str, space: str = "", checkpoint: str | None = None) -> RunnableConfig:
    named = {"checkpoint_id": checkpoint} if checkpoint else {}
    return {"configurable": {"thread_id": thread, "checkpoint_ns": space, **named}}


def _named(config: RunnableConfig, key: str) -> str:
    return str(config.get("configurable", {}).get(key) or "")


def _thread(config: RunnableConfig) -> str:
    return _named(config, "thread_id")


def _id(found: CheckpointTuple) -> str:
    return _named(found.config, "checkpoint_id")
