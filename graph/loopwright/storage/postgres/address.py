"""A PostgreSQL URL: what the driver is given, and what may be shown of it."""

from urllib.parse import parse_qsl, urlencode, urlsplit

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from loopwright.errors import StorageError

_SHOWN = ("host", "port", "user", "dbname")
_CONNECT_SECONDS = 10
_NEVER_IDLE_OUT = (
    "-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3 -c tcp_user_timeout=30000 "
    "-c idle_session_timeout=0"
)
"""For the session that holds a claim: the server frees it half a minute after its machine is gone, and no sooner."""


def connection_info(url: str, *, application: str, holder: bool = False) -> str:
    """The driver's form of a URL; `holder` is for the session of a claim. Raises StorageError."""
    try:
        given = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        given = {"host": "@"}  # libpq's own text would repeat a part of the password
    if "@" in str(given.get("host", "")) or not str(given.get("port", "1")).replace(",", "").isdigit():
        raise StorageError(
            "The PostgreSQL URL cannot be read: write postgresql://USER:PASSWORD@HOST:PORT/DATABASE, and in a password "
            "@ as %40, : as %3A, / as %2F."
        )
    settings: dict[str, str | int | None] = {
        "connect_timeout": _CONNECT_SECONDS,
        **given,
        "application_name": application,  # names the holder of a claim
    }
    if holder:
        settings["options"] = f"{_NEVER_IDLE_OUT} {given.get('options') or ''}".strip()
    return make_conninfo("", **settings)


def without_password(url: str) -> str:
    """The URL as it may be shown: without the password, and of its options only where it leads."""
    parts = urlsplit(url)
    login, at, host = parts.netloc.rpartition("@")
    shown = [(name, value) for name, value in parse_qsl(parts.query) if name in _SHOWN]
    return parts._replace(
        netloc=f"{login.partition(':')[0]}{at}{host}", query=urlencode(shown, safe="/"), fragment=""
    ).geturl()
