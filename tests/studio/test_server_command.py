"""`loopwright studio`: the server with our graph, from any folder, and what it says of its open door."""

from pathlib import Path
from typing import Any

from tests.studio.dev_server import asked, dev_server

COMMAND = "loopwright_studio.cli import main; main()"


def test_the_command_serves_our_graph(tmp_path: Path) -> None:
    """In a folder without a langgraph.json ours is served, on 127.0.0.1, with the storage that was named."""
    words = ("studio", "--no-browser", "--no-reload", "--storage", f"sqlite:///{tmp_path}/named.db")
    with dev_server(tmp_path, *words, command=COMMAND) as server:
        assert "http://127.0.0.1:" in "".join(server.said)
        assert "any web page you visit" in "".join(server.said)
        (assistant,) = server.client.assistants.search()
        assert assistant["graph_id"] == "loopwright"
        thread = server.client.threads.create()["thread_id"]
        result: Any = server.client.runs.wait(thread, "loopwright", input=asked("What is 12*3?"))
        assert "36" in result["answer"]
    assert (tmp_path / "named.db").exists()
