"""`loopwright threads`: what waits, what was said, files, copies, and what is deleted."""

import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

ASK = {"LOOPWRIGHT_ON_LIMIT": "ask"}


@pytest.fixture
def two(invoke: Callable[..., Result]) -> Callable[..., Result]:
    """Two threads: one that ended, one that waits."""
    invoke("run", "what is 2*3", "--thread", "ended", "-q")
    invoke("run", "what is 4*5", "--max-model-calls", "1", "--thread", "waits", "-q", **ASK)
    return invoke


def test_what_waits_is_listed_with_how_to_answer(two: Callable[..., Result]) -> None:
    """Only questions, with commands that can be pasted; the same as JSON; nothing where nothing waits."""
    shown = two("threads", "list", "--waiting").stdout
    assert "extend_budget(model_calls=2)" in shown
    assert "loopwright resume waits --approve" in shown
    assert "ended" not in shown
    (asked,) = json.loads(two("threads", "list", "--waiting", "--json").stdout)
    assert (asked["thread"], asked["kind"]) == ("waits", "budget")
    two("resume", "waits", "--approve", "-q", **ASK)
    assert two("threads", "list", "--waiting").stdout == "Nothing waits.\n"


def test_nothing_is_created_by_looking(invoke: Callable[..., Result], folder: Path) -> None:
    """Without a storage the lists are empty and no file appears."""
    assert invoke("threads", "list").stdout == "No threads.\n"
    assert invoke("threads", "list", "--waiting").stdout == "Nothing waits.\n"
    for words in (("search", "x"), ("delete", "t", "-y"), ("export", "t"), ("prune", "t", "u")):
        result = invoke("threads", *words)
        assert result.exit_code == 2
        assert "There are no threads" in result.stderr
    assert not (folder / "runs.db").exists()


def test_threads_are_found_by_what_was_said(two: Callable[..., Result]) -> None:
    """By a user's words or an answer's."""
    assert [each["thread"] for each in json.loads(two("threads", "search", "WHAT IS 2", "--json").stdout)] == ["ended"]
    assert "ended" in two("threads", "search", "= 6").stdout
    assert two("threads", "search", "no such words").stdout == "No threads.\n"


def test_a_thread_goes_out_and_comes_back(two: Callable[..., Result], folder: Path) -> None:
    """A file that its owner alone may read; under another name it goes on, under its own it exists already."""
    assert two("threads", "export", "waits", "waits.json").exit_code == 0
    assert stat.S_IMODE((folder / "waits.json").stat().st_mode) == 0o600
    assert json.loads(two("threads", "export", "waits").stdout) == json.loads((folder / "waits.json").read_text())
    assert "exists already" in two("threads", "import", "waits.json").stderr
    result = two("threads", "import", "waits.json", "--thread", "copy")
    assert (result.exit_code, result.stderr) == (0, "Go on with: loopwright resume copy\n")
    assert two("resume", "copy", "-q", **ASK).exit_code == 4
    result = two("resume", "copy", "--approve", "-q", **ASK)
    assert (result.exit_code, result.stdout) == (0, "4*5 = 20\n")
    text = (folder / "waits.json").read_text()
    assert (
        two("threads", "import", "-", "--thread", "third", "--storage", "sqlite:///new.db", input=text).exit_code == 0
    )


@pytest.mark.parametrize("name", ["missing.json", "sales.csv", "bytes.json"])
def test_what_is_no_threads_file_is_said(two: Callable[..., Result], folder: Path, name: str) -> None:
    """One sentence for a file that is not there, is something else, or is no text."""
    (folder / "bytes.json").write_bytes(b"\xff\xfe\x00")
    result = two("threads", "import", name)
    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert line.startswith("Error: ")


def test_a_file_that_cannot_be_written_is_said(two: Callable[..., Result]) -> None:
    """A folder that does not exist is named."""
    result = two("threads", "export", "ended", "no/where.json")
    assert result.exit_code == 2
    assert "no/where.json cannot be written" in result.stderr


def test_a_pruned_thread_goes_on(two: Callable[..., Result]) -> None:
    """Where it stood is copied without its history; the old one stays until it is deleted."""
    result = two("threads", "prune", "ended", "short")
    assert result.exit_code == 0
    assert "loopwright threads delete ended" in result.stderr
    assert len(json.loads(two("history", "short", "--json").stdout)) < 4
    assert two("resume", "short", "-q").stdout == "2*3 = 6\n"


def test_a_deleted_thread_is_gone(two: Callable[..., Result]) -> None:
    """Nobody can be asked here, so --yes is demanded; an unknown thread is named."""
    refused = two("threads", "delete", "ended")
    assert refused.exit_code == 2
    assert "--yes" in refused.stderr
    assert two("threads", "delete", "ended", "--yes").exit_code == 0
    assert two("show", "ended").exit_code == 2
    assert "no thread 'ended'" in two("threads", "delete", "ended", "-y").stderr
    assert "waits" in two("threads", "list").stdout
