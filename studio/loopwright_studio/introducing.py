"""Tells LangGraph's server of the threads in the storage: it lists those alone that were made through it."""

import json
import re
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from uuid import UUID

import httpx
import typer

from loopwright.errors import LoopwrightError
from loopwright.storage import Place, place_of, thread_ids
from loopwright_studio.configuration import load_settings
from loopwright_studio.visible import one_line

PAUSE = 0.1
"""Seconds between two questions whether the server is there."""
ANSWER_SECONDS = 10.0
"""Seconds that the server may take for one answer."""
_OURS = re.compile(r"\bserver_storage(\.py:|\.)create_checkpointer$")


def introduce_threads(server: str, config: Path) -> None:
    """Once the server at this URL answers, tell it the threads of the storage, and say on stderr what it lists now.

    Nothing where its langgraph.json names another checkpointer: that one has other threads. Raises nothing of ours.
    """
    graph = graph_on_our_storage(config)
    if graph is None:
        return
    try:
        place = place_of(load_settings()[0].storage)
        names = _names(place)
        if names:
            _tell(server, graph, [name for name in names if is_uuid(name)])
            typer.echo(one_line(_listed(place.url, names)), err=True)
    except (LoopwrightError, httpx.HTTPError) as error:
        why = str(error).partition("\n")[0]
        said = f"The server could not be told of the threads in the storage ({why}): see `loopwright threads list`."
        typer.echo(one_line(said), err=True)


def graph_on_our_storage(config: Path) -> str | None:
    """The first graph of a langgraph.json whose checkpointer is ours, else None. The server reads it after us."""
    try:
        found = json.loads(config.read_text(encoding="utf-8"))
        graph: str = next(iter(found["graphs"]))
        return graph if _OURS.search(found["checkpointer"]["path"]) else None
    except (OSError, ValueError, LookupError, TypeError, StopIteration):
        return None


def is_uuid(name: str) -> bool:
    """Whether a thread's name is a UUID as the server writes it; it takes no other."""
    with suppress(ValueError):
        return str(UUID(name)) == name
    return False


def _names(place: Place) -> list[str]:
    """The threads of the storage, the one that changed last first; none is created."""
    if not place.exists():
        return []
    with place.open() as storage:
        return thread_ids(storage)


def _tell(server: str, graph: str, names: Sequence[str]) -> None:
    """Make each thread known as one of this graph; one that is known stays as it is."""
    with httpx.Client(base_url=server, timeout=ANSWER_SECONDS, trust_env=False) as client:  # no proxy reaches loopback
        _wait(client)
        for name in reversed(names):  # so that the newest comes first there too
            made = {"thread_id": name, "if_exists": "do_nothing", "metadata": {"graph_id": graph}}
            client.post("/threads", json=made).raise_for_status()


def _wait(client: httpx.Client) -> None:
    while True:
        with suppress(httpx.TransportError):
            client.get("/ok")
            return
        time.sleep(PAUSE)


def _listed(url: str, names: Sequence[str]) -> str:
    """What the server lists of these threads, and how many it cannot."""
    listed = sum(map(is_uuid, names))
    said = f"Studio lists {listed} of {len(names)} threads in {url}."
    if listed < len(names):
        said += (
            f" Not listed: {len(names) - listed} whose name is no UUID, which the server does not take; "
            "`loopwright show NAME` and `loopwright report NAME` show them."
        )
    return said
