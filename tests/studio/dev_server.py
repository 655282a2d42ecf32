"""`langgraph dev` as a process of its own: started as a user starts it, and killed as a machine kills it."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pytest
from langgraph_sdk import get_sync_client
from langgraph_sdk.client import SyncLangGraphClient

ROOT = Path(__file__).parents[2]
STARTED = "Application started up"
READY = ("Application startup complete", STARTED)
FAILED = "Application startup failed"
FOREIGN = ("LANG", "OPENAI", "LOOPW")


@dataclass
class DevServer:
    """A running server: its process, an SDK client on it, and what it has said."""

    process: subprocess.Popen[str]
    client: SyncLangGraphClient
    said: list[str]
    heard: threading.Condition

    def wait_for(self, text: str, times: int = 1) -> None:
        """Return once it has said this so many times since its start; fails after a minute."""
        with self.heard:
            heard = self.heard.wait_for(lambda: sum(text in line for line in self.said) >= times, 60)
            assert heard, "".join(self.said[-30:])

    def kill(self) -> None:
        """End it as a crash does, with the processes that it started."""
        _kill(self.process)


def asked(text: str) -> Any:
    """An input as a front end sends it."""
    return {"messages": [{"role": "user", "content": text}]}


def write_project(folder: Path, agent: str, graph: str) -> None:
    """A project of a user: the agent's file, and a langgraph.json that serves it on our checkpointer and store."""
    (folder / "agent.py").write_text(agent)
    served = {
        "dependencies": ["."],
        "graphs": {graph: "./agent.py:graph"},
        "checkpointer": {"path": "loopwright_studio.server_storage.create_checkpointer"},
        "store": {"path": "loopwright_studio.server_storage.create_store"},
    }
    (folder / "langgraph.json").write_text(json.dumps(served))


def free_port() -> int:
    """A port that nobody has, below those that systems give to connections: one of these may go before it is used."""
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as free, suppress(OSError):
            free.bind(("127.0.0.1", port))
            return port


@contextmanager
def dev_server(
    folder: Path, *words: str, command: str = "langgraph_cli.cli import cli; cli()", **variables: str
) -> Iterator[DevServer]:
    """The server in this folder, once it answers; killed at the end."""
    port = free_port()
    environment = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    arguments = words or ("dev", "--no-browser", "--no-reload")
    process = subprocess.Popen(
        [sys.executable, "-c", f"from {command}", *arguments, "--port", str(port)],
        cwd=folder,
        env={**environment, "NO_PROXY": "127.0.0.1", **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,  # a group of its own, so that no worker of it is left
    )
    assert process.stdout is not None
    said = [""]
    try:
        for line in process.stdout:
            said.append(line)
            if FAILED in line or any(word in line for word in READY):
                break
        if not any(word in said[-1] for word in READY):
            pytest.fail("the server did not start:\n" + "".join(said[-30:]))
        heard = threading.Condition()
        reader = threading.Thread(target=_listen, args=(process.stdout, said, heard), daemon=True)
        reader.start()
        with get_sync_client(url=f"http://127.0.0.1:{port}") as client:
            yield DevServer(process, client, said, heard)
        _kill(process)
        reader.join()
    finally:
        _kill(process)
        process.stdout.close()


def _listen(stream: IO[str], said: list[str], heard: threading.Condition) -> None:
    for line in stream:
        with heard:
            said.append(line)
            heard.notify_all()


def _kill(process: subprocess.Popen[str]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
