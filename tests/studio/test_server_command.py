"""`loopwright studio`: the server with our graph, from any folder; what it says of its open door; what it refuses."""

import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.studio.dev_server import asked, dev_server
from typer.testing import Result

COMMAND = "loopwright_studio.cli import main; main()"


def test_the_command_serves_our_graph(tmp_path: Path) -> None:
    """In a folder without a langgraph.json ours is served, on 127.0.0.1, with the storage that was named.

    What it warns of is so: another site's page may ask for anything and read the answer.
    """
    words = ("studio", "--no-browser", "--no-reload", "--storage", f"sqlite:///{tmp_path}/named.db")
    with dev_server(tmp_path, *words, command=COMMAND) as server:
        assert "http://127.0.0.1:" in "".join(server.said)
        assert "any web page you visit" in "".join(server.said)
        foreign = {"Origin": "https://evil.example", "Host": "evil.example"}
        answer = server.client.http.client.post("/threads/search", json={}, headers=foreign)
        assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, "*")
        (assistant,) = server.client.assistants.search()
        assert assistant["graph_id"] == "loopwright"
        thread = server.client.threads.create()["thread_id"]
        result: Any = server.client.runs.wait(thread, "loopwright", input=asked("What is 12*3?"))
        assert "36" in result["answer"]
    assert (tmp_path / "named.db").exists()


def test_a_port_that_is_taken(invoke: Callable[..., Result]) -> None:
    """The port is named and how to name another; LangGraph's own server would take any other one in silence."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        result = invoke("studio", "--no-browser", "--port", str(port))
    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert line.startswith(f"Error: Port {port} on 127.0.0.1 cannot be used")
    assert "--port" in line


@pytest.mark.parametrize("missing", ["langgraph_cli", "langgraph_api"])
def test_without_the_extra(missing: str, tmp_path: Path) -> None:
    """Both halves of it are looked for; what to install is said."""
    program = (
        f"import sys; sys.modules[{missing!r}] = None  # what Python takes for a package that is not there\n"
        "from loopwright_studio.cli import main; main()"
    )
    command = [sys.executable, "-c", program, "studio", "--no-browser"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line == 'Error: LangGraph\'s server is not installed: pip install "loopwright[studio]".'


def test_bad_settings_are_said_before_the_server_starts(invoke: Callable[..., Result]) -> None:
    """In one sentence, and not as a traceback in the server's log."""
    result = invoke("studio", "--no-browser", LOOPWRIGHT_MAX_MODEL_CALLS="many")
    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert "LOOPWRIGHT_MAX_MODEL_CALLS" in line
