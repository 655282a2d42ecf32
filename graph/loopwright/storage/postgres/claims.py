"""Claims on a PostgreSQL server: an advisory lock that lives as long as the session which took it."""

import os
import socket
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b

import psycopg

from loopwright.errors import ThreadLost
from loopwright.steps import Core, adrive, drive
from loopwright.storage.claims import local_time, thread_busy
from loopwright.storage.postgres.session import Session, ask

_TAKE = "SELECT pg_try_advisory_lock(hashtextextended(current_schema() || %s, 0)) AS taken"
_HOLDER = """
SELECT activity.application_name, extract(epoch FROM activity.backend_start)::float AS since
FROM pg_locks AS locks JOIN pg_stat_activity AS activity USING (pid)
WHERE locks.locktype = 'advisory' AND locks.granted AND locks.objsubid = 1
  AND locks.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND (locks.classid::bigint << 32 | locks.objid::bigint) = hashtextextended(current_schema() || %s, 0)
"""
_NAME_BYTES = 63
"""Bytes of an application name that PostgreSQL keeps."""


def holder_name() -> str:
    """How a session that holds a claim is named in pg_stat_activity, and so to whoever is refused."""
    return f"process {os.getpid()} on {socket.gethostname()}"[:_NAME_BYTES]


@dataclass(frozen=True)
class SessionClaim:
    """A thread that is held by a session: lost when the server ends the session, which the holder must ask for."""

    thread: str
    session: Session

    def check(self) -> None:
        """Return while the session lives. Raises ThreadLost."""
        drive(self._check())

    async def acheck(self) -> None:
        """Like `check`, awaiting."""
        await adrive(self._check())

    def _check(self) -> Core[None]:
        try:
            yield from ask(self.session, "SELECT 1 AS alive")
        except psycopg.Error as error:
            raise ThreadLost(
                f"The claim on thread {self.thread!r} was lost with its database session, so another run may hold the "
                "thread now; nothing more was done here. Every finished step is kept: resume the thread."
            ) from error
        return None


def take(session: Session, thread: str) -> Core[SessionClaim]:
    """Take the thread for this session. Raises ThreadBusy with who holds it and since when."""
    if not (yield from ask(session, _TAKE, _key(thread)))["taken"]:
        raise thread_busy(thread, (yield from held_by(session, thread)) or _named(None, None))
    return SessionClaim(thread, session)


def held_by(session: Session, thread: str) -> Core[str | None]:
    """Which process holds the thread and since when; None where none does."""
    holder = yield from ask(session, _HOLDER, _key(thread))
    return _named(holder.get("application_name"), holder.get("since")) if holder else None


def let_go(session: Session) -> Core[None]:
    """Free what the session holds: a server frees it by itself only some time after the session was closed."""
    with suppress(psycopg.Error):  # a session that is lost holds nothing
        yield from ask(session, "SELECT pg_advisory_unlock_all()")
    return None


def _key(thread: str) -> str:
    return f":loopwright:{blake2b(thread.encode('utf-8', 'surrogatepass'), digest_size=16).hexdigest()}"


def _named(name: str | None, since: float | None) -> str:
    """Who holds a claim, as far as this user may see; another user's sessions have no name."""
    return f"{name or 'another process'}{f' since {local_time(since)}' if since else ''}"
