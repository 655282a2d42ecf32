"""One run at a time on a thread, on whichever side: LangGraph's server holds the thread that it runs, and sees ours."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk.errors import ConflictError
from tests.studio.dev_server import DevServer, asked, dev_server, write_project
from typer.testing import Result

from loopwright.report import read_report
from loopwright.storage import Place, place_of

AGENT = """
from langchain_core.messages import BaseMessage
from langchain_core.tools import tool

from loopwright import build_graph, tool_policy
from loopwright.testing import ScriptedModel, call, reply
from loopwright_studio.server_graph import served


@tool
def gate() -> str:
    '''Wait until somebody writes to the gate. Use when asked.'''
    with open("gate") as opened:
        return opened.read()


def answer(messages: list[BaseMessage]):
    return reply("", call("gate")) if messages[-1].text == "wait" else reply("done")


graph = served(build_graph(ScriptedModel(answer), [tool_policy(gate, effect="read", timeout=60)]))
"""


@dataclass(frozen=True)
class Gated:
    """The server in a user's project whose tool waits for whoever opens its gate; `url` is its storage."""

    server: DevServer
    url: str
    gate: Path

    @property
    def place(self) -> Place:
        """The storage as we open it."""
        return place_of(self.url)


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def gated(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gated]:
    """That server on each storage which processes share."""
    folder = tmp_path_factory.mktemp("gated")
    url = f"sqlite:///{folder}/runs.db"
    if request.param == "postgres":
        url = request.getfixturevalue("postgres_server").database()
    write_project(folder, AGENT, "gated")
    os.mkfifo(folder / "gate")
    with dev_server(folder, LOOPWRIGHT_STORAGE=url) as server:
        yield Gated(server, url, folder / "gate")


@pytest.mark.slow
def test_the_server_holds_the_thread_that_it_runs(gated: Gated, invoke: Callable[..., Result]) -> None:
    """While a run goes on there it reads as running and another side is refused; ended or cancelled it is let go."""
    client, place = gated.server.client, gated.place
    thread = client.threads.create()["thread_id"]
    for cancelled in (False, True):
        run = client.runs.create(thread, "gated", input=asked("wait"), durability="sync")
        with gated.gate.open("w") as gate:  # opens when the tool waits
            report = read_report(place, thread)
            assert report.runs[-1].status == "running"
            assert str(report.holder).startswith(f"process {gated.server.process.pid} on ")
            refused = invoke(
                "run", "--model", "offline:demo", "--thread", thread, "--storage", gated.url, "What is 2*3?"
            )
            assert refused.exit_code == 2
            assert f"is being run by {report.holder}: wait for that run to end" in " ".join(refused.stderr.split())
            if cancelled:
                client.runs.cancel(thread, run["run_id"], wait=True)
                assert place.holder(thread) is None
            gate.write("open")
        client.runs.join(thread, run["run_id"])
        assert place.holder(thread) is None
        assert read_report(place, thread).runs[-1].status == ("unfinished" if cancelled else "completed")
    again: Any = client.runs.wait(thread, "gated", input=asked("go"))
    assert again["answer"] == "done"


@pytest.mark.slow
def test_the_server_refuses_a_thread_that_is_held(gated: Gated) -> None:
    """A run ends with the sentence that names the holder, an edit with 409; reading and other threads are free."""
    client, place = gated.server.client, gated.place
    thread = client.threads.create()["thread_id"]
    client.runs.wait(thread, "gated", input=asked("go"))
    with place.claim(thread):
        held = f"Thread '{thread}' is being run by {place.holder(thread)}: wait for that run to end"
        (error,) = [
            part.data for part in client.runs.stream(thread, "gated", input=asked("go")) if part.event == "error"
        ]
        assert error["error"] == "ThreadBusy"
        assert error["message"].startswith(held)
        with pytest.raises(ConflictError, match="wait for that run to end"):
            client.threads.update_state(thread, asked("more"))
        state: Any = client.threads.get_state(thread)
        assert state["values"]["answer"] == "done"
        other: Any = client.runs.wait(None, "gated", input=asked("go"))
        assert other["answer"] == "done"
    client.threads.update_state(thread, asked("more"))
    result: Any = client.runs.wait(thread, "gated", input=asked("go"))
    assert result["answer"] == "done"
    assert [run.status for run in read_report(place, thread).runs] == ["completed", "completed"]
