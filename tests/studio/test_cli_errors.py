"""Every error is one sentence on stderr with its exit code; nothing was written and no traceback is shown."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from loopwright.errors import ModelFailure, UsageError
from loopwright_studio.failures import SentenceCommand


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("run", "x", "--model", "openia:gpt"), 2, "'openia:gpt'"),
        (("run", "x", "--model", "openai:"), 2, "openai:NAME"),
        (("run", "x", "--model", "openai:gpt"), 5, "OPENAI_API_KEY"),
        (("run", "x", "--workspace", "/no/such/folder"), 2, "/no/such/folder is not a folder"),
        (("run", "x", "--workspace", "notes.txt"), 2, "notes.txt is not a folder"),
        (("run", "x", "--workspace", "~nobody-of-that-name"), 2, "is not a folder"),
        (("run", "  "), 2, "The task is empty"),
        (("run", "-"), 2, "The task is empty"),
        (("run", "x", "--storage", "mysql://x"), 2, "sqlite:///PATH"),
        (("run", "x", "--storage", "sqlite:///no/where/runs.db"), 2, "does not exist"),
        (("run", "x", "--storage", "sqlite:///notes.txt"), 2, "cannot be read as a database"),
        (("show", "x", "--storage", "sqlite:///notes.txt"), 2, "cannot be read as a database"),
        (("threads", "list", "--storage", "sqlite:///notes.txt"), 2, "cannot be read as a database"),
        (("resume", "x"), 2, "There are no threads"),
        (("show", "x"), 2, "There are no threads"),
    ],
)
def test_what_cannot_be_done_is_said(
    invoke: Callable[..., Result], folder: Path, words: tuple[str, ...], code: int, sentence: str
) -> None:
    """One sentence that names the thing, the exit code, and an untouched folder."""
    before = {path: path.read_bytes() for path in folder.iterdir()}
    result = invoke(*words, input="")
    assert result.exit_code == code
    (line,) = result.stderr.splitlines()
    assert line.startswith("Error: ")
    assert sentence in line
    assert result.stdout == ""
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("words", [("resume", "nope"), ("show", "nope"), ("resume", "nope", "--extend", "tokens=5")])
def test_an_unknown_thread_is_named(invoke: Callable[..., Result], words: tuple[str, ...]) -> None:
    """A thread that the storage does not hold: its name and the storage."""
    invoke("run", "what is 1+1", "--thread", "t", "-q")
    result = invoke(*words)
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1].startswith("Error: There is no thread 'nope' in sqlite:///runs.db")


@pytest.mark.parametrize(
    "words",
    [
        ("run", "x", "--max-model-calls", "0"),
        ("run", "x", "--max-seconds", "soon"),
        ("run",),
        ("rum", "x"),
        ("run", "x", "--modell", "y"),
    ],
)
def test_wrong_options_are_usage_errors(invoke: Callable[..., Result], folder: Path, words: tuple[str, ...]) -> None:
    """A bad value, a missing task, a command or an option that does not exist: exit code 2, and what was meant."""
    result = invoke(*words)
    assert result.exit_code == 2
    assert "Error" in result.stderr
    assert "Traceback" not in result.output
    assert not (folder / "runs.db").exists()


def test_another_programs_database_is_left_alone(invoke: Callable[..., Result], folder: Path) -> None:
    """A SQLite file of something else is refused and stays byte for byte what it was."""
    path = folder / "songs.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE songs (name)")
    connection.close()
    before = path.read_bytes()
    for words in (("run", "x"), ("show", "x"), ("threads", "list"), ("resume", "x")):
        result = invoke(*words, "--storage", "sqlite:///songs.db")
        assert result.exit_code == 2
        assert "something else" in result.stderr
    assert path.read_bytes() == before


def test_a_projects_file_is_checked_by_every_command(invoke: Callable[..., Result], folder: Path) -> None:
    """A refused or misspelt setting ends the command before it does anything."""
    (folder / "loopwright.toml").write_text('base_url = "http://evil.example/v1"\n')
    for words in (("run", "x"), ("resume", "x"), ("show", "x"), ("threads", "list"), ("tools",), ("doctor",)):
        result = invoke(*words, OPENAI_API_KEY="sk-hidden")
        assert (result.exit_code, result.stdout) == (2, "")
        assert "may not set base_url" in result.stderr


@pytest.mark.parametrize(
    ("error", "code", "shown"),
    [
        (UsageError("Say it\nanother way: \x1b[31mred"), 2, "Error: Say it another way: ␛[31mred\n"),
        (ModelFailure("No key."), 5, "Error: No key.\n"),
        (KeyError("sk-hidden"), 1, "Error: Unexpected KeyError: please report it"),
    ],
)
@pytest.mark.parametrize("debug", [None, "1"])
def test_errors_become_sentences(error: Exception, code: int, shown: str, debug: str | None) -> None:
    """Ours by their text, others by their type alone (their text may hold a secret); a traceback only for debugging."""
    app = typer.Typer(pretty_exceptions_enable=False)

    @app.command(cls=SentenceCommand)
    def fail() -> None:
        raise error

    result = CliRunner().invoke(app, env={"LOOPWRIGHT_DEBUG": debug})
    assert result.exit_code == code
    assert shown in result.stderr
    assert ("Traceback" in result.stderr) == (debug is not None)
    if debug is None:
        assert "sk-hidden" not in result.stderr
        assert len(result.stderr.splitlines()) == 1
