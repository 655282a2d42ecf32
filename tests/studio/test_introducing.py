"""Which threads LangGraph's server is told of, and under which graph."""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.studio.dev_server import ROOT

from loopwright import Agent
from loopwright_studio.introducing import graph_on_our_storage, introduce_threads, is_uuid
from loopwright_studio.serving import CONFIG


@pytest.mark.parametrize("config", [ROOT / "langgraph.json", CONFIG], ids=["checkout", "shipped"])
def test_the_shipped_files_are_on_our_storage(config: Path) -> None:
    """Both name our checkpointer, by its path and by its module."""
    assert graph_on_our_storage(config) == "loopwright"


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"graphs": {"a": "./a.py:graph"}}),
        json.dumps({"graphs": {"a": "./a.py:graph"}, "checkpointer": {"path": "./a.py:create_checkpointer"}}),
        json.dumps({"graphs": {}, "checkpointer": {"path": "loopwright_studio.server_storage.create_checkpointer"}}),
        json.dumps({"graphs": {"a": "./a.py:graph"}, "checkpointer": {"path": None}}),
        "[]",
        "{",
        None,
    ],
)
def test_threads_of_another_checkpointer_are_no_business_of_ours(text: str | None, tmp_path: Path) -> None:
    """Nothing is told of where the server reads its threads elsewhere, or where its file cannot be read."""
    config = tmp_path / "langgraph.json"
    if text is not None:
        config.write_text(text)
    assert graph_on_our_storage(config) is None
    introduce_threads("http://127.0.0.1:1", config)  # returns at once, though no server is there


class Refusing(BaseHTTPRequestHandler):
    """A server that is there and lets nobody in."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()

    def do_POST(self) -> None:
        self.send_response(401)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        return


def test_a_server_that_refuses_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A langgraph.json with `auth` is such a one: one sentence, and no traceback of a thread."""
    url = f"sqlite:///{tmp_path}/runs.db"
    monkeypatch.setenv("LOOPWRIGHT_STORAGE", url)
    introduce_threads("http://127.0.0.1:1", CONFIG)  # no storage yet: nothing is created, nobody asked
    assert not [*tmp_path.iterdir()]
    Agent("offline:demo", storage=url).run("What is 2*3?")
    with HTTPServer(("127.0.0.1", 0), Refusing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        introduce_threads(f"http://127.0.0.1:{server.server_port}", CONFIG)
        server.shutdown()
    (line,) = capsys.readouterr().err.splitlines()
    assert "could not be told" in line
    assert "401" in line


@given(st.uuids(), st.sampled_from([str.upper, lambda text: text.replace("-", ""), lambda text: f"{{{text}}}"]))
def test_only_the_servers_own_spelling_is_a_uuid(uuid: UUID, change: Callable[[str], str]) -> None:
    """Another spelling of a UUID is another thread to us and the same one to the server, so it is not told of."""
    assert is_uuid(str(uuid))
    other = change(str(uuid))
    assert is_uuid(other) == (other == str(uuid))


@given(st.text())
def test_other_names_are_none(name: str) -> None:
    """Any text is refused, and none is an error."""
    assert not is_uuid(name)
