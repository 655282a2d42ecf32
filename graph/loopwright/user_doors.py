"""The doors to what is kept of users across threads: listed and deleted."""

from collections.abc import Sequence

from loopwright.builtins import Memory, forget, memories
from loopwright.steps import adrive, drive
from loopwright.storage import Place


class UserDoors:
    """What an agent's storage keeps of its users (`memory.long_term`), and how a user is forgotten."""

    place: Place

    def memories(self, user: str | None = None) -> list[Memory]:
        """The facts that are kept of this user, by `user["id"]`, or of all users; the newest first."""
        with self.place.open() as storage:
            return drive(memories(storage.store, user))

    async def amemories(self, user: str | None = None) -> list[Memory]:
        """Like `memories`, awaiting."""
        async with self.place.aopen() as storage:
            return await adrive(memories(storage.store, user))

    def forget(self, kept: Sequence[Memory]) -> None:
        """Delete these facts for good; threads in which they were said keep what was said there."""
        with self.place.open() as storage:
            drive(forget(storage.store, kept))

    async def aforget(self, kept: Sequence[Memory]) -> None:
        """Like `forget`, awaiting."""
        async with self.place.aopen() as storage:
            await adrive(forget(storage.store, kept))
