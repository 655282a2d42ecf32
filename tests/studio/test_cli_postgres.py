"""The command line on a PostgreSQL server: the same commands, and no password in anything that is printed."""

from collections.abc import Callable

import pytest
from typer.testing import Result

from loopwright_studio.command_lines import command


@pytest.fixture
def url(postgres: str) -> str:
    """A fresh database, with a password that its server does not ask for."""
    return postgres.replace("postgres@", "postgres:s3cret@")


def test_a_thread_is_run_shown_and_listed(invoke: Callable[..., Result], url: str) -> None:
    """Run, show, list, resume and doctor work on the server; their output names the database without the password."""
    said = [
        invoke("run", "what is 6*7", "--thread", "t", "--storage", url),
        invoke("show", "t", "--storage", url),
        invoke("threads", "list", "--storage", url),
        invoke("resume", "t", "--storage", url),
        invoke("doctor", LOOPWRIGHT_STORAGE=url),
    ]
    assert [result.exit_code for result in said] == [0] * 5
    assert "Kept in postgresql://postgres@/runs" in said[0].stderr
    assert "what is 6*7" in said[2].stdout
    assert "can be reached" in said[4].stdout
    assert "s3cret" not in "".join(result.output for result in said)


@pytest.mark.parametrize("words", [("run", "x"), ("show", "t"), ("threads", "list"), ("resume", "t"), ("doctor",)])
def test_a_missing_database_is_a_usage_error(invoke: Callable[..., Result], url: str, words: tuple[str, ...]) -> None:
    """One sentence and exit code 2, from every command."""
    result = invoke(*words, LOOPWRIGHT_STORAGE=url.replace("/runs", "/nothing"))
    assert result.exit_code == 2
    assert "does not exist: create it" in result.output
    assert "s3cret" not in result.output


def test_a_printed_command_holds_no_password() -> None:
    """The storage in a command that can be pasted is the one that was given, without its password."""
    shown = command("resume", "t", "postgresql://me:s3cret@db/runs")
    assert shown == "loopwright resume t --storage postgresql://me@db/runs"
    assert command("resume", "t", "sqlite:///runs.db") == "loopwright resume t --storage sqlite:///runs.db"
