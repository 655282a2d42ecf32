"""LangGraph's server in the middle of a run: a second run refused, a run cancelled, the server killed and restarted."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk.errors import ConflictError
from tests.studio.dev_server import DevServer, asked, dev_server, write_project
from tests.studio.held import Held

from loopwright.report import read_report
from loopwright.storage import place_of
from loopwright.testing import ModelEndpoint, call, reply
from loopwright.testing.steps import EndpointStep

AGENT = '''
import os
import threading
from pathlib import Path

from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

from loopwright import build_graph, tool_policy


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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project of its own: a graph with a write, our checkpointer and store."""
    write_project(tmp_path, AGENT, "payer")
    return tmp_path


def started(folder: Path, endpoint: ModelEndpoint) -> AbstractContextManager[DevServer]:
    """The server of that project before this endpoint."""
    return dev_server(folder, ENDPOINT=endpoint.base_url, LOOPWRIGHT_STORAGE=f"sqlite:///{folder}/runs.db")


def lines(folder: Path) -> list[str]:
    """Who was paid, in order."""
    paid = folder / "paid.txt"
    return paid.read_text().split() if paid.exists() else []


def test_a_second_run_is_refused_and_a_cancelled_one_goes_on(folder: Path) -> None:
    """While a run goes on it can be looked at, and another on its thread is a conflict; cancelled it can be resumed.

    Nothing is done twice, not even by a fork from before it was done.
    """
    held = Held("never said")
    script: list[EndpointStep] = [reply("", call("pay", to="bob")), held, "bob is paid", "bob was paid"]
    with ModelEndpoint(script) as endpoint, started(folder, endpoint) as server:
        thread = server.client.threads.create()["thread_id"]
        run = server.client.runs.create(thread, "payer", input=asked("Pay bob."), durability="sync")
        assert held.arrived.wait(60)
        (seen,) = read_report(place_of(f"sqlite:///{folder}/runs.db"), thread).runs
        assert [call.result for turn in seen.rounds for call in turn.calls] == ["paid bob"]
        with pytest.raises(ConflictError):
            server.client.runs.create(
                thread, "payer", input=asked("Pay eve."), multitask_strategy="reject", durability="sync"
            )
        server.client.runs.cancel(thread, run["run_id"], wait=True)
        assert server.client.runs.get(thread, run["run_id"])["status"] == "interrupted"
        result: Any = server.client.runs.wait(thread, "payer", input=None, durability="sync")
        assert result["answer"] == "bob is paid"
        history = server.client.threads.get_history(thread, limit=100)
        before = next(each["checkpoint"]["checkpoint_id"] for each in history if each["next"] == ["execute_tools"])
        fork: Any = server.client.runs.wait(thread, "payer", input=None, checkpoint_id=before)
        assert fork["answer"] == "bob was paid"
        (seen,) = read_report(place_of(f"sqlite:///{folder}/runs.db"), thread).runs
        assert [(each.checkpoint, each.edited) for each in seen.forks] == [(before, False)]
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
            server.client.runs.create(thread, "payer", input=asked("Pay bob."), durability="sync")
            if in_the_effect:
                server.wait_for("HANGS IN THE EFFECT")
            else:
                assert held.arrived.wait(60)
            server.kill()
        assert lines(folder) == ["bob"]
        (folder / "hang").unlink(missing_ok=True)
        with started(folder, endpoint) as server:
            server.client.threads.create(thread_id=thread, if_exists="do_nothing")
            result: Any = server.client.runs.wait(thread, "payer", input=None, durability="sync")
            if in_the_effect:
                told = [message["content"] for message in result["messages"] if message["type"] == "tool"]
                assert "OUTCOME UNKNOWN" in told[0]
        assert result["answer"] == "It is done."
        held.slow.event.set()
    assert lines(folder) == ["bob"]
