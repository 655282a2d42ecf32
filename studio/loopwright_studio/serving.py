"""What `studio` does: becomes LangGraph's development server here, with our graph, checkpointer and store."""

import os
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

import typer

from loopwright.errors import UsageError
from loopwright_studio.configuration import load_settings
from loopwright_studio.sources import PREFIX

HOST = "127.0.0.1"
CONFIG = Path(__file__).with_name("langgraph.json")
PROGRAM = "from langgraph_cli.cli import cli; cli()"
WARNING = (
    "This server has no door of its own: it answers every origin and takes any host name, so that any web page you "
    "visit while it runs can list your threads and start tools. End it with Ctrl-C when you are done."
)


def serve(arguments: Mapping[str, object], *, port: int, browser: bool, reload: bool) -> NoReturn:
    """Replace this process by the server. Raises UsageError where that is not installed, SettingsError.

    A langgraph.json of this folder is taken as it is, else ours is used. The arguments reach the graph as variables.
    """
    if find_spec("langgraph_cli") is None or find_spec("langgraph_api") is None:
        raise UsageError('LangGraph\'s server is not installed: pip install "loopwright[studio]".')
    load_settings(arguments)  # what is wrong with them is said here, and not in the server's log
    typer.echo(f"LangGraph's server starts on http://{HOST}:{port}. {WARNING}", err=True)
    own = Path("langgraph.json")
    words = ["dev", "--config", str(own if own.exists() else CONFIG), "--host", HOST, "--port", str(port)]
    words += [*([] if browser else ["--no-browser"]), *([] if reload else ["--no-reload"])]
    command = [sys.executable, "-c", PROGRAM, *words]
    os.execve(sys.executable, command, {**os.environ, **variables(arguments)})


def variables(arguments: Mapping[str, object]) -> dict[str, str]:
    """The arguments that were given as the variables that the server's entry reads."""
    return {f"{PREFIX}{name.upper()}": str(value) for name, value in arguments.items() if value is not None}
