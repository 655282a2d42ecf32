"""A model server that was not started."""

import os
import socket
import subprocess
import sys
from pathlib import Path


def test_a_server_that_is_not_there_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    """One sentence that names the address, exit code 5, and no database."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    command = [sys.executable, "-m", "loopwright_studio", "run", "hi", "--model", "openai:x", "--base-url", url]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI", "LOOPWRIGHT"))}
    done = subprocess.run(command, cwd=tmp_path, env=kept, capture_output=True, text=True, check=False)
    assert done.returncode == 5
    assert done.stderr == f"Error: No model server answers at {url}: start it, or name another with --base-url.\n"
    assert list(tmp_path.iterdir()) == []
