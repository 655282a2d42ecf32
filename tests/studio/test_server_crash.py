"""LangGraph's server in the middle of a run: a second run refused, a run cancelled, the server killed and restarted."""

import json
import threading
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk.errors import ConflictError
from tests.studio.dev_server import DevServer, asked, dev_server

from loopwright.testing import ModelEndpoint, Slow, call, reply
from loopwright.testing.steps import EndpointStep

AGENT = '''
import os
import threading
from pathlib import Path

from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

from loopwright import build_graph, tool_policy
from loopwright_studio.entry import create_checkpointer, create_store


@tool
def pay(to: str) -> str:
    """Pay someone."""
    with open("paid.txt", "a") as paid:
        paid.write(to + "\\n")
    if Path("hang").exists():
        print("HANGS IN THE EFFECT", flush=True)
        threading.Event().wait()
    return "paid " + to


model = ChatOpenAI(model="scripted", base_url=os.environ["ENDPOINT"], api_key="x")
graph = build_graph(model, [tool_policy(pay, effect="write")])
'''


class Held:
    """A step of the endpoint that says when its request came, and waits until it is let go."""

    def __init__(self, step: EndpointStep) -> None:
        self.arrived = threading.Event()
        self.slow = Slow(step)

    def __call__(self, body: object) -> Slow:
        self.arrived.set()
        return self.slow


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project of its own: a graph with a write, our checkpointer and store."""
    (tmp_path / "agent.py").write_text(AGENT)
    served = {
        "dependencies": ["."],
        "graphs": {"payer": "./agent.py:graph"},
        "checkpointer": {"path": "./agent.py:create_checkpointer"},
        "store": {"path": "./agent.py:create_store"},
    }
    (tmp_path / "langgraph.json").write_text(json.dumps(served))
    return tmp_path


def started(folder: Path, endpoint: ModelEndpoint) -> AbstractContextManager[DevServer]:
    """The server of that project before this endpoint."""
    return dev_server(folder, ENDPOINT=endpoint.base_url, LOOPWRIGHT_STORAGE=f"sqlite:///{folder}/runs.db")


def lines(folder: Path) -> list[str]:
    """Who was paid, in order."""
    paid = folder / "paid.txt"
    return paid.read_text().split() if paid.exists() else []


def test_a_second_run_is_refused_and_a_cancelled_one_goes_on(folder: Path) -> None:
    """While a run goes on another on its thread is a conflict; cancelled it is resumable, and nothing is done twice."""
    held = Held("never said")
    script: list[EndpointStep] = [reply("", call("pay", to="bob")), held, "bob is paid"]
    with ModelEndpoint(script) as endpoint, started(folder, endpoint) as server:
        thread = server.client.threads.create()["thread_id"]
        run = server.client.runs.create(thread, "payer", input=asked("Pay bob."))
        assert held.arrived.wait(60)
        with pytest.raises(ConflictError):
            server.client.runs.create(thread, "payer", input=asked("Pay eve."), multitask_strategy="reject")
        server.client.runs.cancel(thread, run["run_id"], wait=True)
        assert server.client.runs.get(thread, run["run_id"])["status"] == "interrupted"
        result: Any = server.client.runs.wait(thread, "payer", input=None)
        assert result["answer"] == "bob is paid"
        held.slow.event.set()
    assert lines(folder) == ["bob"]


@pytest.mark.parametrize("in_the_effect", [False, True])
def test_a_killed_server_is_started_again(folder: Path, in_the_effect: bool) -> None:
    """The run goes on under a new process and ends; the payment was made once, and one of unknown outcome is told."""
    held = Held("never said")
    script: list[EndpointStep] = [reply("", call("pay", to="bob")), *([] if in_the_effect else [held]), "It is done."]
    if in_the_effect:
        (folder / "hang").touch()
    with ModelEndpoint(script) as endpoint:
        with started(folder, endpoint) as server:
            thread = server.client.threads.create()["thread_id"]
            server.client.runs.create(thread, "payer", input=asked("Pay bob."))
            if in_the_effect:
                server.wait_for("HANGS IN THE EFFECT")
            else:
                assert held.arrived.wait(60)
            server.kill()
        assert lines(folder) == ["bob"]
        (folder / "hang").unlink(missing_ok=True)
        with started(folder, endpoint) as server:
            server.client.threads.create(thread_id=thread, if_exists="do_nothing")
            result: Any = server.client.runs.wait(thread, "payer", input=None)
            if in_the_effect:
                told = [message["content"] for message in result["messages"] if message["type"] == "tool"]
                assert "OUTCOME UNKNOWN" in told[0]
        assert result["answer"] == "It is done."
        held.slow.event.set()
    assert lines(folder) == ["bob"]
