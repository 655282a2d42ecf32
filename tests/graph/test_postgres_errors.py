"""Each trouble with a PostgreSQL server is one sentence that says what to do, and holds no password."""

import asyncio
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any, Protocol

import psycopg
import pytest

from loopwright import Agent
from loopwright.errors import StorageError
from loopwright.storage import open_storage, place_of
from loopwright.testing import ScriptedModel


class Server(Protocol):
    folder: Path

    def url(self, database: str, user: str = "postgres", password: str = "") -> str: ...
    def execute(self, statement: str, database: str = "postgres", **names: str) -> list[tuple[Any, ...]]: ...


def refused(url: str, words: str) -> str:
    """Opening, claiming and running, sync and async, are each refused with these words; the text of the error."""
    with pytest.raises(StorageError, match=words) as opened, open_storage(url):
        pass

    async def opens() -> None:
        async with place_of(url).aopen():
            pass

    with pytest.raises(StorageError, match=words):
        asyncio.run(opens())
    agent = Agent(ScriptedModel(["x"]), storage=url)
    with pytest.raises(StorageError, match=words):
        agent.run("x", thread="t")
    with pytest.raises(StorageError, match=words):
        asyncio.run(agent.arun("x", thread="t"))
    assert len(str(opened.value).splitlines()) == 1
    return str(opened.value)


def run_sql(url: str, *statements: str) -> None:
    """Run each statement in its own transaction."""
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)  # pyright: ignore[reportArgumentType, reportCallIssue]


def test_a_server_that_is_not_there() -> None:
    """Nobody listens at the port: the URL without its password, and what to do."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    text = refused(f"postgresql://me:s3cret@127.0.0.1:{port}/runs", "cannot be reached .*start it")
    assert f"postgresql://me@127.0.0.1:{port}/runs" in text
    assert "s3cret" not in text


def test_a_database_and_a_user_that_are_not_there(postgres_server: Server) -> None:
    """A missing database is to be created, an unknown user to be checked."""
    refused(postgres_server.url("nothing"), "does not exist: create it")
    refused(postgres_server.url("postgres", user="nobody"), "does not know the user")


def test_a_wrong_password(postgres_server: Server) -> None:
    """A wrong and a missing password: both say where it is set, the wrong one is not repeated; the right one opens."""
    postgres_server.execute("CREATE ROLE guarded LOGIN PASSWORD 'right' CREATEDB")
    rules = postgres_server.folder / "pg_hba.conf"
    before = rules.read_text()
    rules.write_text(f"local all guarded scram-sha-256\n{before}")
    postgres_server.execute("SELECT pg_reload_conf()")
    for password in ("wr0ng", ""):
        text = refused(postgres_server.url("postgres", "guarded", password), "refused the login.*PGPASSWORD")
        assert "wr0ng" not in text
    with place_of(postgres_server.url("postgres", "guarded", "right")).claim("t"):
        pass


def test_a_user_without_rights(postgres: str, postgres_server: Server) -> None:
    """One that may not create tables is told to be granted that."""
    postgres_server.execute("CREATE ROLE guest LOGIN")
    refused(postgres.replace("postgres@", "guest@"), "grant it the right")


def test_a_read_only_database(postgres: str) -> None:
    """A standby, or a database made read-only, is named as such."""
    with open_storage(postgres):
        pass
    name = postgres.partition("@/")[2].partition("?")[0]
    run_sql(postgres, f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    with pytest.raises(StorageError, match="is read-only"):
        Agent(ScriptedModel(["x"]), storage=postgres).run("x", thread="t")


@pytest.mark.parametrize("table", ["checkpoints", "store"])
def test_another_programs_tables(postgres: str, table: str) -> None:
    """A database with a table of ours by name that we did not make is left as it is."""
    run_sql(postgres, f"CREATE TABLE {table} (name text)")
    refused(postgres, "tables of something else")
    with psycopg.connect(postgres) as connection:
        tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
        assert connection.execute(tables).fetchall() == [(table,)]


@pytest.mark.parametrize("table", ["checkpoint_migrations", "store_migrations"])
def test_a_newer_layout(postgres: str, table: str) -> None:
    """A database that a newer package set up asks for that package."""
    with open_storage(postgres):
        pass
    run_sql(postgres, f"INSERT INTO {table} (v) VALUES (999)")
    refused(postgres, "written by a newer langgraph-checkpoint-postgres")


def test_a_table_that_is_gone(postgres: str) -> None:
    """Tables that someone removed are named."""
    with open_storage(postgres):
        pass
    run_sql(postgres, "DROP TABLE checkpoint_blobs")
    with pytest.raises(StorageError, match=r"checkpoint_blobs.*restore them"):
        Agent(ScriptedModel(["x"]), storage=postgres).run("x", thread="t")


def test_a_thread_id_that_cannot_be_kept(postgres: str) -> None:
    """PostgreSQL keeps no NUL in a text: said, not raised from its driver."""
    with pytest.raises(StorageError, match="NUL"):
        Agent(ScriptedModel(["x"]), storage=postgres).run("x", thread="a\0b")


def test_a_url_shows_no_password() -> None:
    """What is shown of a URL has no password and no option but where it leads."""
    place = place_of("postgresql://me:s3cret@db.example:5433/runs?sslmode=require&password=s3cret&host=/tmp")
    assert place.url == "postgresql://me@db.example:5433/runs?host=/tmp"
    assert "s3cret" not in repr(place)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:s3/cret@db/x",
        "postgresql://me:s3@cret@db/x",
        "postgres://me:s3%zcret@db/x",
        "mysql://me:s3cret@db",
    ],
)
def test_a_url_that_cannot_be_read_repeats_no_password(url: str) -> None:
    """The error says how a URL is written, and holds no part of the password."""
    with pytest.raises(StorageError, match="postgresql://USER:PASSWORD@HOST") as caught:
        place_of(url)
    assert "s3" not in str(caught.value)
    assert "cret" not in str(caught.value)


def test_the_missing_driver() -> None:
    """Without the extra's packages the error says what to install."""
    code = (
        "import sys; sys.modules['psycopg'] = None  # what Python takes for a package that is not there\n"
        "from loopwright.storage import place_of\n"
        "place_of('postgresql://me:s3cret@db/x')"
    )
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert child.stderr.rstrip().endswith('pip install "loopwright[postgres]".')
    assert "s3cret" not in child.stderr.splitlines()[-1]
