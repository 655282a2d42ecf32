"""The project of docs/studio.md, served as it stands there."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.studio.dev_server import ROOT, asked, dev_server

TEXT = (ROOT / "docs" / "studio.md").read_text(encoding="utf-8")
AGENT, CONFIG, CLIENT, REMOTE = re.findall(r"^```(?:python|json)\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
PLACE = "http://127.0.0.1:2024"


def output(program: str) -> str:
    """What a program of the docs prints, in a process of its own. Raises CalledProcessError where it fails."""
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


def test_the_project_of_the_docs_is_served(tmp_path: Path) -> None:
    """Both files as they are printed: the graph under its name, its description, and threads in our storage.

    The two programs that talk to it run as they stand, with its port.
    """
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "langgraph.json").write_text(CONFIG)
    words = ("studio", "--no-browser", "--no-reload")
    with dev_server(tmp_path, *words, command="loopwright_studio.cli import main; main()") as server:
        (assistant,) = server.client.assistants.search()
        assert (assistant["graph_id"], assistant["description"]) == ("shop", "Answers questions about orders.")
        thread = server.client.threads.create()["thread_id"]
        result: Any = server.client.runs.wait(thread, "shop", input=asked("What is 6*7?"))
        assert "42" in result["answer"]
        state: Any = server.client.threads.get_state(thread)["values"]
        assert state["run"]["limits"]["model_calls"] == 30
        url = str(server.client.http.client.base_url).rstrip("/")
        assert "'kind': 'stop'" in output(CLIENT.replace(PLACE, url))
        assert "42" in output(REMOTE.replace(PLACE, url))
    assert (tmp_path / "runs.db").exists()
