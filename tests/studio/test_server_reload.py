"""LangGraph's server with hot reload: the agent's file is edited while a run goes on; what it reads is from its log."""

from pathlib import Path
from typing import Any

from tests.studio.dev_server import STARTED, asked, dev_server, write_project
from tests.studio.held import Held

from loopwright.testing import ModelEndpoint, call, reply
from loopwright.testing.steps import EndpointStep

AGENT = '''
import os

from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

from loopwright import build_graph, tool_policy


@tool
def colour() -> str:
    """The colour of the day."""
    return "green"


model = ChatOpenAI(model="scripted", base_url=os.environ["ENDPOINT"], api_key="x")
graph = build_graph(model, [tool_policy(colour, effect="read")])
'''
ASK = reply("", call("colour"))
DETECTED = "WatchFiles detected changes in"


def test_an_edit_is_taken_up(tmp_path: Path) -> None:
    """Threads stay, the run in progress goes on with the new code; the storage in the watched folder reloads nothing.

    A file that cannot be read ends no server: the next edit is taken up.
    """
    write_project(tmp_path, AGENT, "painter")
    held = Held("never said")
    script: list[EndpointStep] = [ASK, "It is green.", held, ASK, "It is blue."]
    with (
        ModelEndpoint(script) as endpoint,
        dev_server(tmp_path, "dev", "--no-browser", ENDPOINT=endpoint.base_url) as server,
    ):
        client = server.client
        thread = client.threads.create()["thread_id"]
        first: Any = client.runs.wait(thread, "painter", input=asked("Which colour?"))
        assert first["answer"] == "It is green."
        run = client.runs.create(thread, "painter", input=asked("And now?"))
        assert held.arrived.wait(60)
        (tmp_path / "agent.py").write_text(AGENT + "def (")
        server.wait_for("Application startup failed")
        (tmp_path / "agent.py").write_text(AGENT.replace("green", "blue"))
        server.wait_for(STARTED, times=2)
        result: Any = client.runs.join(thread, run["run_id"])
        held.slow.event.set()
        assert result["answer"] == "It is blue."
        assert [each["content"] for each in result["messages"] if each["type"] == "tool"] == ["green", "blue"]
        assert {line.partition(DETECTED)[2][:12] for line in server.said if DETECTED in line} == {" 'agent.py'."}
    assert (tmp_path / "runs.db").exists()
