"""The doors to threads at rest: what waits, what happened, what would come next, going back, pinning."""

import asyncio

from langgraph.types import StateSnapshot

from loopwright.errors import UnknownThread
from loopwright.graph import wiring_of
from loopwright.pending import Pending, pending_of
from loopwright.report import HEAD, RunReport, read_report, report_of
from loopwright.steps import Core, Do, adrive, drive
from loopwright.storage import Place, Storage
from loopwright.stream import Graph
from loopwright.threads.editing import Edit
from loopwright.threads.forking import fork
from loopwright.threads.history import HistoryEntry, history
from loopwright.threads.pinning import pin
from loopwright.threads.previewing import Preview, preview
from loopwright.threads.reading import config_of
from loopwright.threads.waiting import waiting


class ThreadDoors:
    """What an agent tells about the threads of its storage, and changes in them without running one."""

    graph: Graph
    place: Place

    def pending(self, thread: str) -> list[Pending]:
        """The open questions of a thread, for `resume(decisions=...)`. Raises UnknownThread."""
        return drive(self._pending(thread))

    async def apending(self, thread: str) -> list[Pending]:
        """Like `pending`, awaiting."""
        return await adrive(self._pending(thread))

    def history(self, thread: str) -> list[HistoryEntry]:
        """The thread's checkpoints, the newest last, each with what happened then. Raises UnknownThread."""
        with self.place.open() as storage:
            return drive(history(storage.saver, thread))

    async def ahistory(self, thread: str) -> list[HistoryEntry]:
        """Like `history`, awaiting."""
        async with self.place.aopen() as storage:
            return await adrive(history(storage.saver, thread))

    def fork(
        self,
        thread: str,
        checkpoint: str,
        *,
        edit: Edit | None = None,
        repeat_effects: bool = False,
        into: str | None = None,
    ) -> str:
        """Go back to a checkpoint of the thread's history; returns the id of the new head, from which `resume` goes on.

        `edit` is a text in place of the task (a new task where the run has ended), or messages that replace those of
        the same id, or are added. The branch that is left stays in the history. What the journal says was done there
        is served here and not done again, unless `repeat_effects`. With `into` the state is copied to a new thread, and
        this one stays as it is. Raises UnknownThread, UnknownCheckpoint, ThreadBusy and UsageError.
        """
        with self.place.claim(into or thread), self.place.open() as storage:
            graph = self._bound(storage)
            return drive(
                fork(graph, storage.store, thread, checkpoint, edit=edit, repeat_effects=repeat_effects, into=into)
            )

    async def afork(
        self,
        thread: str,
        checkpoint: str,
        *,
        edit: Edit | None = None,
        repeat_effects: bool = False,
        into: str | None = None,
    ) -> str:
        """Like `fork`, awaiting."""
        async with self.place.aclaim(into or thread), self.place.aopen() as storage:
            graph = self._bound(storage)
            return await adrive(
                fork(graph, storage.store, thread, checkpoint, edit=edit, repeat_effects=repeat_effects, into=into)
            )

    def waiting(self) -> list[Pending]:
        """The open questions of all threads of the storage, those of the thread that changed last first."""
        with self.place.open() as storage:
            return waiting(storage)

    async def awaiting(self) -> list[Pending]:
        """Like `waiting`, in a thread of its own: the questions are read one thread of the storage after the other."""
        return await asyncio.to_thread(self.waiting)

    def pin(self, thread: str, text: str) -> None:
        """Pin a sentence to a thread at rest: every later request holds it word for word, as the user's.

        Raises UnknownThread, ThreadBusy, and UsageError for an open run, an empty text and too much that is pinned.
        """
        with self.place.claim(thread), self.place.open() as storage:
            drive(pin(self._bound(storage), thread, text))

    async def apin(self, thread: str, text: str) -> None:
        """Like `pin`, awaiting."""
        async with self.place.aclaim(thread), self.place.aopen() as storage:
            await adrive(pin(self._bound(storage), thread, text))

    def preview(self, thread: str) -> Preview:
        """The request that the thread would send next, with its tokens by part. Raises UnknownThread."""
        return drive(self._preview(thread))

    async def apreview(self, thread: str) -> Preview:
        """Like `preview`, awaiting."""
        return await adrive(self._preview(thread))

    def report(self, thread: str, characters: int = HEAD) -> RunReport:
        """What happened on a thread, as plain data, each text up to so many characters. Raises UnknownThread."""
        return read_report(self.place, thread, characters)

    async def areport(self, thread: str, characters: int = HEAD) -> RunReport:
        """Like `report`, awaiting."""
        async with self.place.aopen() as storage:
            return await adrive(report_of(self.place, storage, thread, characters))

    def _pending(self, thread: str) -> Core[list[Pending]]:
        snapshot = yield from self._look(thread)
        return list(pending_of(thread, snapshot.interrupts))

    def _preview(self, thread: str) -> Core[Preview]:
        snapshot = yield from self._look(thread)
        return preview(wiring_of(self.graph), thread, snapshot.values)

    def _look(self, thread: str) -> Core[StateSnapshot]:
        snapshot: StateSnapshot = yield Do(self._snapshot, self._asnapshot, (thread,))
        if not snapshot.values:
            raise UnknownThread(f"There is no thread {thread!r} in {self.place.url}.")
        return snapshot

    def _bound(self, storage: Storage) -> Graph:
        return self.graph.copy(update={"checkpointer": storage.saver, "store": storage.store})

    def _snapshot(self, thread: str) -> StateSnapshot:
        with self.place.open() as storage:
            return self._bound(storage).get_state(config_of(thread))

    async def _asnapshot(self, thread: str) -> StateSnapshot:
        async with self.place.aopen() as storage:
            return await self._bound(storage).aget_state(config_of(thread))
