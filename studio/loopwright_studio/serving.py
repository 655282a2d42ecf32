"""What `studio` does: becomes LangGraph's development server here, with our graph, checkpointer and store."""

import os
import socket
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
RUNS = 10
"""Runs that the server makes at a time, each on a thread of its own; by itself it makes one, and the others wait."""
CONFIG = Path(__file__).with_name("langgraph.json")
PROGRAM = "from loopwright_studio.server_process import main; main()"
WARNING = (
    "This server has no door of its own: it answers every origin and takes any host name, so that any web page you "
    "visit while it runs can list your threads and start tools. End it with Ctrl-C when you are done."
)


def serve(arguments: Mapping[str, object], *, port: int, browser: bool, reload: bool) -> NoReturn:
    """Replace this process by the server. Raises UsageError where it is not installed or the port taken, SettingsError.

    A langgraph.json of this folder is taken as it is, else ours is used. The arguments reach the graph as variables.
    """
    if find_spec("langgraph_cli") is None or find_spec("langgraph_api") is None:
        raise UsageError('LangGraph\'s server is not installed: pip install "loopwright[studio]".')
    load_settings(arguments)  # what is wrong with them is said here, and not in the server's log
    check_port(port)
    url, own = f"http://{HOST}:{port}", Path("langgraph.json")
    typer.echo(f"LangGraph's server starts on {url}. {WARNING}", err=True)
    config = str(own if own.exists() else CONFIG)
    words = ["dev", "--config", config, "--host", HOST, "--port", str(port), "--n-jobs-per-worker", str(RUNS)]
    words += [*([] if browser else ["--no-browser"]), *([] if reload else ["--no-reload"])]
    command = [sys.executable, "-c", PROGRAM, url, config, *words]
    os.execve(sys.executable, command, {**os.environ, **variables(arguments)})


def check_port(port: int) -> None:
    """Raises UsageError when the server cannot have this port: it would take another, and say so in its log alone."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # else the last server's closed connections count
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise UsageError(
                f"Port {port} on {HOST} cannot be used ({error.strerror}): end what listens there, or name another "
                "with --port."
            ) from error


def variables(arguments: Mapping[str, object]) -> dict[str, str]:
    """The arguments that were given as the variables that the server's entry reads."""
    return {f"{PREFIX}{name.upper()}": str(value) for name, value in arguments.items() if value is not None}
