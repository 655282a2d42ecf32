"""What LangGraph's server asks of a checkpointer beyond running: to take a run back, and to copy a thread."""

import asyncio
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from tests.studio.dev_server import DevServer, asked, dev_server, write_project

from loopwright import build_graph
from loopwright.storage import place_of
from loopwright.testing import ModelEndpoint, ScriptedModel, Slow, call, reply
from loopwright.testing.json_types import JSONObject
from loopwright.testing.steps import EndpointStep
from loopwright.threads.reading import config_of
from loopwright_studio.server_saver import ServerSaver

AGENT = '''
import os

from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

from loopwright import build_graph, tool_policy
from loopwright_studio.server_graph import served


@tool
def pay(to: str) -> str:
    """Pay someone."""
    with open("paid.txt", "a") as paid:
        paid.write(to + "\\n")
    return "paid " + to


@tool
def price(of: str) -> str:
    """The price of a thing."""
    return "the price of " + of


model = ChatOpenAI(model="scripted", base_url=os.environ["ENDPOINT"], api_key="x")
tools = [tool_policy(pay, effect="write"), tool_policy(price, effect="read")]
graph = served(build_graph(model, tools))
'''
STUDIO = "loopwright_studio.cli import main; main()"
THINGS = "abcdefgh"


class Teller:
    """Answers by the last thing that a user said: pays, asks for eight prices at a time, or is held until let go."""

    def __init__(self) -> None:
        self.held = threading.Semaphore(0)
        self.slow = threading.Event()

    def __call__(self, body: JSONObject) -> EndpointStep:
        messages: Any = body["messages"]
        task: str = next(each["content"] for each in reversed(messages) if each["role"] == "user")
        fresh = messages[-1]["role"] == "user"
        if fresh and "pay" in task:
            return reply("", call("pay", to=task.split()[-1]))
        if fresh and "prices" in task:
            return reply("", *(call("price", of=thing) for thing in THINGS))
        if "hold" in task:
            self.held.release()
            return Slow("never said", self.slow)
        return "done: " + task


@pytest.fixture(scope="module")
def teller() -> Teller:
    """The model of that server."""
    return Teller()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project that is served."""
    folder = tmp_path_factory.mktemp("teller")
    write_project(folder, AGENT, "teller")
    return folder


@pytest.fixture(scope="module")
def server(folder: Path, teller: Teller) -> Iterator[DevServer]:
    """`loopwright studio` in it."""
    words = ("studio", "--no-browser", "--no-reload")
    with (
        ModelEndpoint(teller) as endpoint,
        dev_server(folder, *words, command=STUDIO, ENDPOINT=endpoint.base_url) as running,
    ):
        yield running
        teller.slow.set()


def started(server: DevServer, teller: Teller, thread: str, task: str) -> str:
    """A run whose model is being asked now."""
    run = server.client.runs.create(thread, "teller", input=asked(task))
    assert teller.held.acquire(timeout=60)
    return run["run_id"]


def spoken(server: DevServer, thread: str) -> list[str]:
    """What was said on a thread, as it stands."""
    values: Any = server.client.threads.get_state(thread)["values"]
    return [each["content"] for each in values.get("messages", []) if each["type"] in ("human", "ai")]


def copied(server: DevServer, thread: str) -> str:
    """The server's copy of a thread; the SDK's own door says that it hands out nothing."""
    made: Any = server.client.http.post(f"/threads/{thread}/copy", json=None)
    return str(made["thread_id"])


def paid(folder: Path) -> list[str]:
    """Who was paid, in order."""
    return (folder / "paid.txt").read_text().split()


def stored(folder: Path) -> str:
    """All that the store and the checkpoints hold, as text."""
    with closing(sqlite3.connect(folder / "runs.db")) as database:
        tables = ("store", "checkpoints", "writes")
        return repr([database.execute(f"SELECT * FROM {table}").fetchall() for table in tables])


def test_a_message_that_rolls_back_the_run_in_progress(server: DevServer, teller: Teller, folder: Path) -> None:
    """The thread goes on from where that run began; what its tool did stays done, its branch stays in the history."""
    client = server.client
    thread = client.threads.create()["thread_id"]
    client.runs.wait(thread, "teller", input=asked("one"))
    started(server, teller, thread, "hold, but pay ann")
    result: Any = client.runs.wait(thread, "teller", input=asked("two"), multitask_strategy="rollback")
    assert result["answer"] == "done: two"
    assert spoken(server, thread) == ["one", "done: one", "two", "done: two"]
    assert client.threads.get(thread)["status"] == "idle"
    history: Any = client.threads.get_history(thread, limit=100)
    assert any(each["values"]["messages"][-1]["content"] == "paid ann" for each in history if each["values"])
    assert paid(folder).count("ann") == 1


@pytest.mark.parametrize("before", [[], ["one"]], ids=["the first run", "a later run"])
def test_a_cancelled_run_is_rolled_back(server: DevServer, teller: Teller, before: list[str]) -> None:
    """The state is that of before, nothing of a first run, and the next run answers."""
    client = server.client
    thread = client.threads.create()["thread_id"]
    for task in before:
        client.runs.wait(thread, "teller", input=asked(task))
    was = spoken(server, thread) if before else []
    run = started(server, teller, thread, "hold")
    client.runs.cancel(thread, run, wait=True, action="rollback")
    assert spoken(server, thread) == was
    assert client.threads.get_state(thread)["next"] == []
    result: Any = client.runs.wait(thread, "teller", input=asked("two"))
    assert result["answer"] == "done: two"
    assert spoken(server, thread) == [*was, "two", "done: two"]


def test_a_run_that_others_followed_is_not_taken_back(server: DevServer) -> None:
    """What came after it was said in its knowledge, so that the thread stays as it is; the last one alone goes."""
    client = server.client
    thread = client.threads.create()["thread_id"]
    runs = [client.runs.create(thread, "teller", input=asked(task)) for task in ("one", "two")]
    for run in runs:
        client.runs.join(thread, run["run_id"])
    client.runs.delete(thread, runs[0]["run_id"])
    assert spoken(server, thread) == ["one", "done: one", "two", "done: two"]
    client.runs.delete(thread, runs[1]["run_id"])
    assert spoken(server, thread) == ["one", "done: one"]


def test_a_copy_is_the_same_in_every_state(server: DevServer) -> None:
    """Results of one step keep their order: each checkpoint of the copy holds what that of the original holds."""
    client = server.client
    thread = client.threads.create()["thread_id"]
    client.runs.wait(thread, "teller", input=asked("all prices"))
    one, other = (client.threads.get_history(each, limit=100) for each in (thread, copied(server, thread)))
    assert len(one) > 6
    assert [each["values"] for each in one] == [each["values"] for each in other]


def test_a_copy_keeps_the_journal(server: DevServer, folder: Path) -> None:
    """A run in the copy from before a write that was made does not make it again."""
    client = server.client
    thread = client.threads.create()["thread_id"]
    client.runs.wait(thread, "teller", input=asked("pay joe"))
    copy = copied(server, thread)
    history = client.threads.get_history(copy, limit=100)
    before = next(each["checkpoint"]["checkpoint_id"] for each in history if each["next"] == ["execute_tools"])
    result: Any = client.runs.wait(copy, "teller", input=None, checkpoint_id=before)
    assert result["answer"] == "done: pay joe"
    assert paid(folder).count("joe") == 1


@pytest.mark.parametrize("named", [True, False], ids=["a thread", "a run without one"])
def test_a_deleted_thread_leaves_nothing(server: DevServer, folder: Path, named: bool) -> None:
    """With its checkpoints goes what the store holds of it, the journal with the arguments of its writes."""
    client = server.client
    if named:
        thread = client.threads.create()["thread_id"]
        client.runs.wait(thread, "teller", input=asked("pay secretly"))
        assert "secretly" in stored(folder)
        client.threads.delete(thread)
    else:
        client.runs.wait(None, "teller", input=asked("pay secretly"))
    assert "secretly" in paid(folder)
    assert "secretly" not in stored(folder)


def test_runs_of_two_threads_go_on_at_a_time(server: DevServer, teller: Teller) -> None:
    """One whose model is slow keeps no other thread waiting: the models of both are asked."""
    threads = [server.client.threads.create()["thread_id"] for _ in range(2)]
    runs = [started(server, teller, thread, "hold") for thread in threads]
    for thread, run in zip(threads, runs, strict=True):
        assert server.client.runs.get(thread, run)["status"] == "running"
        server.client.runs.cancel(thread, run, wait=True)


def test_nothing_blocked_or_broke(server: DevServer) -> None:
    """After all of the above the server's log has no traceback and no blocking call."""
    log = "".join(server.said)
    assert "Traceback" not in log
    assert "BlockingError" not in log


def test_every_storage_copies_and_goes_back(storage_url: str) -> None:
    """In each kind of storage a copy holds every state of its original, and a run that is taken back is in none."""

    async def copied_and_taken_back() -> None:
        async with place_of(storage_url).aopen() as storage:
            saver = ServerSaver(storage)
            graph = build_graph(ScriptedModel(["first", "second", "third"]), checkpointer=saver, store=storage.store)
            for run in ("first", "second"):
                await graph.ainvoke({"messages": [HumanMessage(run)]}, config_of("t", run_id=run), durability="sync")
            await saver.acopy_thread("t", "copy")
            histories = [
                [state.values async for state in graph.aget_state_history(config_of(thread))]
                for thread in ("t", "copy")
            ]
            assert len(histories[0]) > 8
            assert histories[0] == histories[1]
            await asyncio.gather(*(saver.adelete_for_runs(["second"]) for _ in range(2)))  # as the server may ask
            for thread in ("t", "copy"):
                state = await graph.aget_state(config_of(thread))
                assert [message.text for message in state.values["messages"]] == ["first", "first"]
                assert (state.values["run"]["id"], state.next) == ("first", ())
                sources = [
                    (each.metadata or {}).get("source") async for each in graph.aget_state_history(config_of(thread))
                ]
                assert sources.count("fork") == 1
            await graph.ainvoke({"messages": [HumanMessage("only")]}, config_of("new", run_id="only"))
            await asyncio.gather(*(saver.adelete_for_runs(["only"]) for _ in range(2)))
            assert (await graph.aget_state(config_of("new"))).values == {}

    asyncio.run(copied_and_taken_back())
