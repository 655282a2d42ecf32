"""The project of docs/studio.md, served as it stands there."""

import re
from pathlib import Path
from typing import Any

from tests.studio.dev_server import ROOT, asked, dev_server

TEXT = (ROOT / "docs" / "studio.md").read_text(encoding="utf-8")
((_, AGENT), (_, CONFIG)) = re.findall(r"^```(python|json)\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


def test_the_project_of_the_docs_is_served(tmp_path: Path) -> None:
    """Both files as they are printed: the graph under its name, its description, and threads in our storage."""
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
    assert (tmp_path / "runs.db").exists()
