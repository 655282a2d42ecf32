"""LangGraph's own server, started as a user starts it, driven through its SDK: no key, no network but loopback."""

import os
import re
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk import get_sync_client
from langgraph_sdk.client import SyncLangGraphClient

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SyncLangGraphClient]:
    """A running `langgraph dev` with our langgraph.json, its files in a folder of its own."""
    folder = tmp_path_factory.mktemp("server")
    shutil.copy(ROOT / "langgraph.json", folder)
    (folder / "studio").symlink_to(ROOT / "studio")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("LANG", "OPENAI", "LOOPW"))
    }
    environment |= {
        "LOOPWRIGHT_STORAGE": f"sqlite:///{folder}/runs.db",
        "LOOPWRIGHT_WORKSPACE": str(ROOT / "examples" / "workspace"),
        "NO_PROXY": "127.0.0.1",
    }
    code = "from langgraph_cli.cli import cli; cli()"
    options = ["dev", "--port", str(port), "--no-browser", "--no-reload"]
    server = subprocess.Popen(
        [sys.executable, "-c", code, *options],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert server.stdout is not None
    said: list[str] = []
    for line in server.stdout:
        said.append(line)
        if "Application startup complete" in line or "Application started up" in line:
            break
    else:
        pytest.fail("the server did not start:\n" + "".join(said[-30:]))
    reader = threading.Thread(target=server.stdout.read, daemon=True)
    reader.start()
    with get_sync_client(url=f"http://127.0.0.1:{port}") as sdk:
        yield sdk
    server.kill()
    server.wait()
    reader.join()
    server.stdout.close()


def asked(text: str) -> Any:
    """An input as a front end sends it."""
    return {"messages": [{"role": "user", "content": text}]}


@pytest.fixture(scope="module")
def assistant(client: SyncLangGraphClient) -> str:
    """Id of the assistant that serves our graph."""
    return client.assistants.search()[0]["assistant_id"]


def test_schemas_and_drawing(client: SyncLangGraphClient, assistant: str) -> None:
    """Input, output, context have schemas; every edge is drawn, the guard's conditional; nodes describe themselves."""
    schemas = client.assistants.get_schemas(assistant)
    assert all(schemas[name] for name in ("input_schema", "output_schema", "state_schema", "context_schema"))
    limits = schemas["context_schema"]["properties"]["max_model_calls"]  # type: ignore[index]
    assert limits["langgraph_nodes"] == ["guard"]
    drawing: Any = client.assistants.get_graph(assistant)
    conditional = {(edge["source"], edge["target"]) for edge in drawing["edges"] if edge.get("conditional")}
    assert conditional == {
        ("guard", goal) for goal in ("call_model", "compress_memory", "execute_tools", "ask", "finish")
    }
    assert len(drawing["edges"]) == 12
    described = {node["id"]: node.get("metadata", {}).get("description") for node in drawing["nodes"]}
    assert all(described[name] for name in described if not name.startswith("__"))


def test_a_run_streams_its_log_and_its_answer(client: SyncLangGraphClient, assistant: str) -> None:
    """Custom mode carries every event, messages mode the answer; state and history are there afterwards."""
    thread = client.threads.create()["thread_id"]
    kinds, errors, text = [], [], ""
    for part in client.runs.stream(
        thread,
        assistant,
        input=asked("What is 12*3?"),
        stream_mode=["custom", "messages-tuple"],
        context={"max_model_calls": 7},
    ):
        if part.event == "custom":
            kinds.append(part.data["kind"])
        elif part.event == "error":
            errors.append(part.data)
        elif part.event == "messages":
            text += str(part.data[0]["content"])
    assert errors == []
    assert [kinds[0], kinds[-1]] == ["begin", "stop"]
    assert {"decision", "model", "call", "answer"} <= set(kinds)
    assert "36" in text
    values: Any = client.threads.get_state(thread)["values"]
    assert re.search(r"\b36\b", values["answer"])
    assert values["run"]["limits"]["model_calls"] == 7
    assert len(client.threads.get_history(thread, limit=50)) > 8


def test_a_looping_model_is_stopped_at_an_override(client: SyncLangGraphClient, assistant: str) -> None:
    """A context override holds for its run: one model call, then the closing answer."""
    thread = client.threads.create()["thread_id"]
    result: Any = client.runs.wait(
        thread,
        assistant,
        input=asked("What is 12*3 and what is 4*5?"),
        context={"max_model_calls": 1},
    )
    assert result["stop"]["reason"] == "model_calls"
    assert result["answer"]
