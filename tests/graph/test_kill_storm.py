"""The small form of benchmarks/kill_storm.py: killed runs end rightly, no effect is doubled, lost or left untold."""

import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "benchmarks" / "kill_storm.py"


def storm(*options: str) -> str:
    """The tally of a storm that kept every bound; in a process of its own, which may fork."""
    command = [sys.executable, str(SOURCE), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("way", [(), ("--asynchronous",)])
def test_a_small_storm_on_sqlite(way: tuple[str, ...]) -> None:
    """Ten kills at random moments, approvals among them."""
    assert storm("--kills", "10", *way).startswith("kills 1")


@pytest.mark.slow
def test_a_small_storm_on_postgres(postgres: str) -> None:
    """Six kills on a real server."""
    assert storm("--kills", "6", "--storage", postgres).startswith("kills ")


@pytest.mark.slow
def test_kills_at_chosen_calls_of_checkpointer_and_journal() -> None:
    """Every ninth moment before or after a write or a look-up."""
    assert "twice 0" in storm("--placed", "--every", "9")


@pytest.mark.slow
def test_kills_at_chosen_calls_on_postgres(postgres: str) -> None:
    """Every nineteenth of those moments, before a real server."""
    assert "twice 0" in storm("--placed", "--every", "19", "--storage", postgres)
