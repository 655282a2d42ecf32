"""Many processes on one storage: distinct threads all end, one thread has one holder at a time."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.parametrize("storage", ["sqlite", "postgres"])
def test_many_processes_share_a_storage(storage: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """The benchmark in its small form: every run ends with its answer, no effect is missing or doubled."""
    url = f"sqlite:///{tmp_path}/runs.db" if storage == "sqlite" else request.getfixturevalue("postgres")
    command = [sys.executable, str(ROOT / "benchmarks" / "many_processes.py"), "--processes", "4", "--runs", "24"]
    command += ["--shared-runs", "12"]
    done = subprocess.run([*command, "--storage", url], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "distinct threads: 24 of 24 runs ended" in done.stdout
    assert "one thread: 12 of 12 runs ended" in done.stdout
    assert "at most 1 holder at a time" in done.stdout
