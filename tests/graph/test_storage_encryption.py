"""Encryption at rest: with a key nothing of a run's text lies in the storage in clear; without it, one sentence."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from langchain_core.tools import tool

from loopwright import Agent, Settings, tool_policy
from loopwright.errors import StorageError
from loopwright.settings import ToolSettings
from loopwright.storage import open_storage, place_of
from loopwright.testing import ScriptedModel, call, reply

KEY = "LANGGRAPH_AES_KEY"
SECRETS = ("taskword", "argumentword", "resultword", "answerword", "thoughtword", "systemword", "longword")


@pytest.fixture(params=["sqlite", "postgres"])
def shared_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A storage on disk."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/runs.db"
    url: str = request.getfixturevalue("postgres")
    return url


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key in the environment."""
    monkeypatch.setenv(KEY, "0123456789abcdef")


def stored(url: str) -> Iterator[bytes]:
    """Every byte that the storage keeps: the files of a database, or the rows of every table."""
    if url.startswith("sqlite"):
        folder = Path(url.removeprefix("sqlite:///")).parent
        yield from (path.read_bytes() for path in folder.rglob("*") if path.is_file())
        return
    with psycopg.connect(url) as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        for (table,) in tables:
            query = f"SELECT t::text, row_to_json(t)::text FROM {table} AS t"
            for row in connection.execute(query):  # pyright: ignore[reportArgumentType, reportCallIssue]
                yield "\n".join(row).encode()
        blobs = "SELECT blob FROM checkpoint_blobs WHERE blob IS NOT NULL UNION ALL SELECT blob FROM checkpoint_writes"
        yield from (blob for (blob,) in connection.execute(blobs))


def clear(url: str) -> set[str]:
    """The secrets that lie in the storage in clear."""
    content = list(stored(url))
    return {secret for secret in SECRETS if any(secret.encode() in part for part in content)}


def agent(url: str) -> Agent:
    """An agent whose every text holds a secret: task, prompt, thought, argument, result, long result and answer."""

    @tool
    def pay(to: str) -> str:
        """Pay someone."""
        return f"resultword for {to}"

    @tool
    def read() -> str:
        """Read much."""
        return "longword and so on. " * 500

    script: list[Any] = [reply("thoughtword", call("pay", to="argumentword")), reply("", call("read")), "answerword"]
    tools = [tool_policy(pay, effect="write"), tool_policy(read, effect="read")]
    settings = Settings(system_prompt="systemword", tools=ToolSettings(max_result_tokens=100))
    return Agent(ScriptedModel(script), tools, settings=settings, storage=url)


def test_without_a_key_texts_lie_in_clear(shared_url: str) -> None:
    """The counter-check: the same search finds what a run without a key has written."""
    agent(shared_url).run("taskword", thread="t")
    assert clear(shared_url) == {*SECRETS} - {"systemword"}  # the system prompt is never stored


@pytest.mark.usefixtures("key")
@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
def test_with_a_key_no_text_lies_in_clear(shared_url: str, asynchronous: bool) -> None:
    """Checkpoints, journal and stored results are encrypted; report, journal and paging read them."""
    one = agent(shared_url)
    result = asyncio.run(one.arun("taskword", thread="t")) if asynchronous else one.run("taskword", thread="t")
    assert result.answer == "answerword"
    assert clear(shared_url) == set()
    assert agent(shared_url).report("t").runs[0].answer == "answerword"
    with open_storage(shared_url) as storage:
        (record,) = storage.store.search(("effects",), filter={"state": "done"})
        assert record.value["text"] == "resultword for argumentword"
        assert storage.store.search(("effects",), filter={"state": "started"}) == []
        (kept,) = storage.store.search(("results",))
        assert "longword" in kept.value["text"]


def test_the_thread_of_another_key(shared_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the key and with another one: one sentence that names the variable; with it, the thread goes on."""
    monkeypatch.setenv(KEY, "0123456789abcdef")
    agent(shared_url).run("taskword", thread="t")
    monkeypatch.delenv(KEY)
    with pytest.raises(StorageError, match="is encrypted: set LANGGRAPH_AES_KEY"):
        agent(shared_url).report("t")
    with open_storage(shared_url) as storage, pytest.raises(StorageError, match="is encrypted"):
        storage.store.search(("effects",))
    with pytest.raises(StorageError, match="is encrypted"):
        agent(shared_url).run("taskword", thread="t")
    monkeypatch.setenv(KEY, "fedcba9876543210")
    with pytest.raises(StorageError, match="another key: set LANGGRAPH_AES_KEY"):
        agent(shared_url).resume("t")
    with open_storage(shared_url) as storage, pytest.raises(StorageError, match="another key"):
        storage.store.search(("effects",))
    monkeypatch.setenv(KEY, "0123456789abcdef")
    assert Agent(ScriptedModel(["more"]), storage=shared_url).run("on", thread="t").answer == "more"


def test_a_thread_begun_without_a_key_goes_on_with_one(shared_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was written in clear is read as it is, what comes new is encrypted."""
    Agent(ScriptedModel(["first"]), storage=shared_url).run("begin", thread="t")
    monkeypatch.setenv(KEY, "0123456789abcdef")
    result = agent(shared_url).run("taskword", thread="t")
    assert [message.text for message in result.messages][:2] == ["begin", "first"]
    assert clear(shared_url) == set()


def test_a_key_that_cannot_be_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key of the wrong length is told by its length, not by what it is."""
    monkeypatch.setenv(KEY, "tooshort")
    with (
        pytest.raises(StorageError, match="LANGGRAPH_AES_KEY has 8 bytes") as caught,
        open_storage(f"sqlite:///{tmp_path}/runs.db"),
    ):
        pass
    assert "tooshort" not in str(caught.value)


def test_the_missing_package(tmp_path: Path) -> None:
    """With a key and without the package for it: what to install, before anything is written."""
    code = (
        "import os, sys; os.environ['LANGGRAPH_AES_KEY'] = '0123456789abcdef'\n"
        "sys.modules['Crypto'] = None  # what Python takes for a package that is not there\n"
        "from loopwright.storage import place_of\n"
        f"with place_of('sqlite:///{tmp_path}/runs.db').open(): pass"
    )
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert 'pip install "loopwright[encryption]"' in child.stderr.splitlines()[-1]
    assert list(tmp_path.iterdir()) == []


def test_memory_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of a memory storage is at rest: a key changes nothing there."""
    monkeypatch.setenv(KEY, "0123456789abcdef")
    with place_of("memory:").open() as storage:
        storage.store.put(("x",), "k", {"n": 1})
        item = storage.store.get(("x",), "k")
    assert item is not None
    assert item.value == {"n": 1}
