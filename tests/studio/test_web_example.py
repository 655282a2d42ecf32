"""examples/fastapi_app.py over real HTTP: runs, events, approvals, and what happens when a client goes away."""

import asyncio
import importlib.util
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from langchain_core.tools import BaseTool, tool

from loopwright import Agent, Settings, tool_policy
from loopwright.settings import ModelSettings
from loopwright.testing import ScriptedModel, call, reply

uvicorn = pytest.importorskip("uvicorn", reason="the example needs a web server; langgraph-cli[inmem] brings one")
EXAMPLE = Path(__file__).parents[2] / "examples" / "fastapi_app.py"


def application(agent: Agent) -> Any:
    """The example's application around this agent."""
    spec = importlib.util.spec_from_file_location("fastapi_app", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.application(agent)


@contextmanager
def serving(agent: Agent) -> Iterator[httpx.Client]:
    """A client of the example, served on a free port of this machine."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        config = uvicorn.Config(application(agent), log_level="error", ws="none", timeout_graceful_shutdown=5)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listening])))
        thread.start()
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{listening.getsockname()[1]}", timeout=60) as client:
                yield client
        finally:
            server.should_exit = True
            thread.join()


def paying(log: list[str]) -> BaseTool:
    """A write that asks for approval and keeps what it did."""

    @tool
    def pay(to: str) -> str:
        """Pay someone."""
        log.append(to)
        return f"paid {to}"

    return tool_policy(pay, effect="write", approval=True)


def agent_of(script: list[Any], tools: list[BaseTool], folder: Path) -> Agent:
    """An agent on a file, whose model plays the script."""
    settings = Settings(model=ModelSettings(retry_delay=0))
    return Agent(ScriptedModel(script), tools, settings=settings, storage=f"sqlite:///{folder}/runs.db")


def events_of(response: httpx.Response) -> list[dict[str, Any]]:
    """The server-sent events of a response."""
    return [json.loads(line.removeprefix("data: ")) for line in response.text.splitlines() if line]


def test_a_question_is_answered_over_http(tmp_path: Path) -> None:
    """A run that needs a person answers 202 with the question; it stands in the list; the decision ends the run."""
    log: list[str] = []
    agent = agent_of([reply("", call("pay", to="bob")), "all paid"], [paying(log)], tmp_path)
    with serving(agent) as client:
        paused = client.post("/threads/t/runs", json={"task": "pay bob", "run_id": "r1"})
        assert (paused.status_code, log) == (202, [])
        (asked,) = client.get("/waiting").json()
        assert asked == paused.json()["questions"][0]
        done = client.post("/threads/t/decisions", json={asked["id"]: {"type": "approve"}})
        assert (done.status_code, done.json()["answer"], log) == (200, "all paid", ["bob"])
        again = client.post("/threads/t/runs", json={"task": "pay bob", "run_id": "r1"})
        assert (again.json()["answer"], log) == ("all paid", ["bob"])
        assert client.get("/waiting").json() == []


def test_events_are_streamed(tmp_path: Path) -> None:
    """Events and tokens come as they happen, the result last; an error of ours is an event."""
    agent = agent_of([reply("", call("pay", to="bob")), "no"], [paying([])], tmp_path)
    with serving(agent) as client:
        events = events_of(client.post("/threads/t/stream", json={"task": "pay bob"}))
        assert [events[0]["kind"], events[-1]["kind"]] == ["begin", "result"]
        assert events[-1]["questions"][0]["call"]["name"] == "pay"
        failed = events_of(client.post("/threads/t/stream", json={"task": " "}))
        assert [each["kind"] for each in failed] == ["error"]


def test_errors_are_sentences(tmp_path: Path) -> None:
    """An unknown thread is 404, a bad answer 400; nothing runs on a thread that has none to cancel."""
    with serving(agent_of([], [], tmp_path)) as client:
        missing = client.post("/threads/nowhere/resume")
        assert (missing.status_code, "no thread 'nowhere'" in missing.json()["error"]) == (404, True)
        assert client.post("/threads/nowhere/runs", json={"task": ""}).status_code == 400
        assert client.post("/threads/nowhere/cancel").json() == {"cancelled": False}


class Gate:
    """A tool that says when it runs and when it was cancelled, and hangs the first time."""

    def __init__(self) -> None:
        self.begun, self.ended = threading.Event(), threading.Event()
        self.times = 0

    def tool(self) -> BaseTool:
        """The tool."""

        @tool
        async def wait() -> str:
            """Wait."""
            self.times += 1
            self.begun.set()
            try:
                await asyncio.sleep(3600 if self.times == 1 else 0)
            finally:
                self.ended.set()
            return "waited"

        return tool_policy(wait, effect="read")


@pytest.mark.parametrize("door", ["runs", "stream"])
def test_a_client_that_goes_away_leaves_a_resumable_thread(door: str, tmp_path: Path) -> None:
    """The run is cancelled, its thread is free, and resuming ends it."""
    gate = Gate()
    agent = agent_of([reply("", call("wait")), "done"], [gate.tool()], tmp_path)
    with serving(agent) as client:
        leave(client, f"/threads/t/{door}", gate.begun)
        assert gate.ended.wait(30)
        result = until_free(lambda: client.post("/threads/t/resume"))
        assert (result.status_code, result.json()["answer"], gate.times) == (200, "done", 2)


def leave(client: httpx.Client, path: str, begun: threading.Event) -> None:
    """Send a task and close the connection once it is being worked on."""
    host, port = client.base_url.host, client.base_url.port
    body = json.dumps({"task": "go"})
    with socket.create_connection((host, port or 80)) as connection:
        connection.sendall(
            f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()
        )
        assert begun.wait(30)


def until_free(ask: Callable[[], httpx.Response]) -> httpx.Response:
    """The answer, once the run that was left has let go of its thread: 409 says that it has not yet."""
    for _ in range(1000):
        response = ask()
        if response.status_code != 409:
            return response
    pytest.fail("the thread was never freed")


@pytest.mark.parametrize("body", [b"no json", b"[]", b'{"tsk": "x"}'])
@pytest.mark.parametrize("door", ["runs", "stream"])
def test_a_body_without_a_task_is_the_clients_error(door: str, body: bytes, tmp_path: Path) -> None:
    """One sentence with 400, and no error of the server's."""
    with serving(agent_of([], [], tmp_path)) as client:
        refused = client.post(f"/threads/t/{door}", content=body)
    assert (refused.status_code, refused.json()) == (400, {"error": "Send a JSON object with 'task'."})


@pytest.mark.parametrize("task", [5, "", {"role": "user"}])
def test_a_task_that_cannot_be_run_is_the_clients_error(task: Any, tmp_path: Path) -> None:
    """At once where nothing was sent yet, else as the stream's last event."""
    with serving(agent_of([], [], tmp_path)) as client:
        refused = client.post("/threads/t/runs", json={"task": task})
        streamed = events_of(client.post("/threads/t/stream", json={"task": task}))
    assert refused.status_code == 400
    assert refused.json()["error"].startswith("The task is ")
    assert streamed == [{"kind": "error", **refused.json()}]
