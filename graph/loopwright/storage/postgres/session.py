"""One connection to PostgreSQL, sync or async, and a question put to it."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeAlias

from psycopg import AsyncConnection, Connection
from psycopg.rows import DictRow, dict_row

from loopwright.steps import Core, Do

Session: TypeAlias = Connection[DictRow] | AsyncConnection[DictRow]


@contextmanager
def connected(info: str) -> Iterator[Connection[DictRow]]:
    """A connection as LangGraph's savers want it, closed at the end."""
    connection = Connection[DictRow].connect(info, autocommit=True, prepare_threshold=0, row_factory=dict_row)
    try:
        yield connection
    finally:
        connection.close()


@asynccontextmanager
async def aconnected(info: str) -> AsyncIterator[AsyncConnection[DictRow]]:
    """Like `connected`, awaiting."""
    connection = await AsyncConnection[DictRow].connect(
        info, autocommit=True, prepare_threshold=0, row_factory=dict_row
    )
    try:
        yield connection
    finally:
        await connection.close()


def ask(session: Session, question: str, *values: object) -> Core[dict[str, Any]]:
    """The first row of the answer; an empty one where there is none."""
    execute: Any = session.execute  # of whichever kind the session is: only the driver of that kind calls it
    cursor = yield Do(execute, execute, (question, values))
    row: dict[str, Any] | None = yield Do(cursor.fetchone, cursor.fetchone)
    return row or {}
