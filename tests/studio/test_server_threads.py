"""One thread from both sides: LangGraph's server and our command line read and go on with each other's threads."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from langgraph_sdk.schema import Command
from tests.studio.dev_server import asked, dev_server
from typer.testing import Result

from loopwright.report import read_report
from loopwright.storage import place_of

STUDIO = "loopwright_studio.cli import main; main()"
APPROVE = {"LOOPWRIGHT_TOOLS__APPROVE": '["now"]'}


def test_threads_go_both_ways(invoke: Callable[..., Result], folder: Path) -> None:
    """What the command line left waiting is listed, answered and gone on with over the server; and the other way round.

    A thread with a name of its own cannot be listed there: its number is said.
    """
    assert invoke("run", "What time is it in Tokyo?", **APPROVE).exit_code == 4
    assert invoke("run", "What is 2*3?", "--thread", "mine").exit_code == 0
    (waiting,) = json.loads(invoke("threads", "list", "--waiting", "--json").stdout)
    with dev_server(folder, "studio", "--no-browser", "--no-reload", command=STUDIO, **APPROVE) as server:
        server.wait_for("Studio lists 1 of 2 threads in sqlite:///runs.db. Not listed: 1 whose name is no UUID")
        client = server.client
        (listed,) = client.threads.search()
        assert listed["thread_id"] == waiting["thread"]
        state: Any = client.threads.get_state(listed["thread_id"])
        assert state["interrupts"][0]["value"]["action_requests"][0]["name"] == "now"
        approval = Command(resume={"decisions": [{"type": "approve"}]})
        result: Any = client.runs.wait(listed["thread_id"], "loopwright", command=approval)
        assert "JST" in result["answer"]
        made = client.threads.create()["thread_id"]
        client.runs.wait(made, "loopwright", input=asked("What is 12*3?"))
        assert read_report(place_of(f"sqlite:///{folder}/runs.db"), made).runs[0].answer == "12*3 = 36"
        assert "12*3 = 36" in invoke("show", made, "--all").stdout
        assert invoke("run", "What is 4*5?", "--thread", made).stdout == "4*5 = 20\n"
        again: Any = client.runs.wait(made, "loopwright", input=asked("What is 5*5?"))
        assert "25" in again["answer"]
    shown = json.loads(invoke("show", made, "--json").stdout)
    assert [run["task"] for run in shown["runs"]] == ["What is 12*3?", "What is 4*5?", "What is 5*5?"]
    assert "JST" in invoke("show", listed["thread_id"], "--all").stdout
