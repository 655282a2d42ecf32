"""What PostgreSQL and its driver say, as one sentence that says what to do and holds no password."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors

from loopwright.errors import StorageError

_CONNECTING = (
    ("password", "The server of {url} refused the login: check the user, and the password in the URL or PGPASSWORD."),
    ("role", "The server of {url} does not know the user: check the user in the URL."),
    ("database", "The database of {url} does not exist: create it (createdb), or name another."),
    ("no pg_hba.conf entry", "The server of {url} accepts no login from here: allow it in its pg_hba.conf."),
    ("too many", "The server of {url} has no connection left: raise its max_connections, or run less at once."),
)
"""What a server's refusal holds (it has no code while a connection is made, and English unless set otherwise)."""


@contextmanager
def explained(url: str) -> Iterator[None]:
    """Raises StorageError for what goes wrong with the server inside."""
    try:
        yield
    except psycopg.Error as error:
        raise StorageError(_sentence(error).format(url=url)) from error


def _sentence(error: psycopg.Error) -> str:
    text = " ".join(str(error).split()).replace("{", "(").replace("}", ")")
    if isinstance(error, errors.InsufficientPrivilege):
        return "The user of {url} may not do this (" + text + "): grant it the right to create and write tables."
    if isinstance(error, errors.ReadOnlySqlTransaction):
        return "The database of {url} is read-only: name the primary server, or make it writable."
    if isinstance(error, errors.DiskFull):
        return "The server of {url} has no room left: make room; every finished step is kept."
    if isinstance(error, errors.UndefinedTable | errors.UndefinedColumn):
        return "The tables of {url} are not as they were set up (" + text + "): restore them, or name another database."
    if isinstance(error, psycopg.DataError):
        return "{url} cannot keep what it was given (" + text + ")."
    if isinstance(error, psycopg.OperationalError) and error.sqlstate is None and "connection failed" in text:
        return _refusal(text)
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return "The connection to {url} failed (" + text + "): see that the server runs; every finished step is kept."
    return "The database of {url} cannot be used (" + text + "): name another."


def _refusal(text: str) -> str:
    """The sentence for a connection that a server refused, or for a server that did not answer."""
    said = text.partition("FATAL:")[2] or text.partition("fe_sendauth:")[2]
    refused = next((sentence for words, sentence in _CONNECTING if words in said), "")
    return refused or "The server of {url} cannot be reached (" + text + "): start it, or check the URL."
