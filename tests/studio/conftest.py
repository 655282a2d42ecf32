"""Two ways to the command line, in this process and as one of its own, without anyone's settings; and the server."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import chdir
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner, Result

from loopwright_studio.cli import app

if TYPE_CHECKING:
    from langgraph_sdk.client import SyncLangGraphClient
    from tests.studio.dev_server import DevServer

FOREIGN = ("LOOPWRIGHT", "OPENAI", "NO_COLOR", "FORCE_COLOR", "TERM", "COLUMNS")
SALES = "date,amount\n2026-02-10,5\n2026-03-01,100.5\n2026-03-09,200\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The current folder of a command: two files to work on, no settings, no threads."""
    (tmp_path / "sales.csv").write_text(SALES)
    (tmp_path / "notes.txt").write_text("first line\nthe budget is 40,000\n")
    return tmp_path


@pytest.fixture
def invoke(folder: Path) -> Callable[..., Result]:
    """The command line in this process, in `folder`, 80 columns wide, without a terminal; keywords are variables."""

    def run(*words: str, input: str | None = None, **variables: str) -> Result:
        cleared: dict[str, str | None] = {name: None for name in os.environ if name.startswith(FOREIGN)}
        with chdir(folder):
            return CliRunner().invoke(app, [*words], input=input, env={**cleared, "COLUMNS": "80", **variables})

    return run


@pytest.fixture
def process(folder: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """The command line as a process of its own, started in `folder`; the caller waits for it."""
    children: list[subprocess.Popen[str]] = []

    def start(*words: str, **options: Any) -> subprocess.Popen[str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
        given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL, **options}
        variables = {**kept, "COLUMNS": "80", **given.pop("variables", {})}
        command = [sys.executable, "-m", "loopwright_studio", *words]
        children.append(subprocess.Popen(command, cwd=folder, env=variables, text=True, **given))
        return children[-1]

    yield start
    for child in children:
        if child.poll() is None:  # a test failed before the process ended
            child.kill()
            child.communicate()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator["DevServer"]:
    """A running `langgraph dev` with our langgraph.json, its files in a folder of its own."""
    from tests.studio.dev_server import ROOT, dev_server

    folder = tmp_path_factory.mktemp("server")
    shutil.copy(ROOT / "langgraph.json", folder)
    (folder / "studio").symlink_to(ROOT / "studio")
    with dev_server(
        folder,
        LOOPWRIGHT_STORAGE=f"sqlite:///{folder}/runs.db",
        LOOPWRIGHT_WORKSPACE=str(ROOT / "examples" / "workspace"),
        LOOPWRIGHT_TOOLS__APPROVE='["now"]',
    ) as running:
        yield running


@pytest.fixture(scope="session")
def client(server: "DevServer") -> "SyncLangGraphClient":
    """The SDK's client on that server."""
    return server.client


@pytest.fixture(scope="session")
def assistant(client: "SyncLangGraphClient") -> str:
    """Id of the assistant that serves our graph."""
    return client.assistants.search()[0]["assistant_id"]
