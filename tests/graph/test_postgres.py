"""PostgreSQL as a storage: set up once, claimed by an advisory lock, its troubles told in a sentence."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import psycopg
import pytest
from langchain_core.tools import tool

from loopwright import Agent, tool_policy
from loopwright.errors import ThreadBusy, ThreadLost
from loopwright.storage import open_storage, place_of, thread_ids
from loopwright.testing import ScriptedModel, call, reply

SETUP = """
import sys
from loopwright.storage import open_storage
print("ready", flush=True); sys.stdin.readline()
with open_storage(sys.argv[1]) as storage:
    storage.store.put(("x",), sys.argv[2], {"n": 1})
print("done", flush=True)
"""


@contextmanager
def program(code: str, *words: str) -> Iterator[subprocess.Popen[str]]:
    """A Python process that runs this code, gone at the end."""
    command = [sys.executable, "-c", code, *words]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield child
    finally:
        child.kill()
        child.communicate()


def said(child: subprocess.Popen[str]) -> str:
    """The next line that a process prints."""
    assert child.stdout is not None
    return child.stdout.readline().strip()


def test_threads_are_kept_and_listed(postgres: str) -> None:
    """What one agent ran another reads, sync and async; the threads are listed with the newest first."""
    for thread in ("old", "new"):
        Agent(ScriptedModel(["an answer"]), storage=postgres).run("x", thread=thread)
    assert Agent(ScriptedModel([]), storage=postgres).report("old").runs[0].answer == "an answer"
    report = asyncio.run(Agent(ScriptedModel([]), storage=postgres).areport("new"))
    assert report.runs[0].answer == "an answer"
    with open_storage(postgres) as storage:
        assert thread_ids(storage) == ["new", "old"]


def test_processes_that_start_together_set_up_once(postgres: str) -> None:
    """Four processes open a fresh database at the same moment: none fails."""
    with ExitStack() as stack:
        children = [stack.enter_context(program(SETUP, postgres, str(number))) for number in range(4)]
        assert [said(child) for child in children] == ["ready"] * 4
        for child in children:
            assert child.stdin is not None
            child.stdin.write("go\n")
            child.stdin.flush()
        assert [said(child) for child in children] == ["done"] * 4


def test_nothing_stays_open_between_calls(postgres: str) -> None:
    """After a run, a stream that was left early and a refused claim, the server has no session of ours."""
    agent = Agent(ScriptedModel(["an answer", "another"]), storage=postgres)
    agent.run("x", thread="t")
    stream = agent.stream("y", thread="t")
    for _ in stream:
        break
    del stream
    place = place_of(postgres)
    with place.claim("t"), pytest.raises(ThreadBusy), place.claim("t"):
        pass
    sessions = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    end = time.monotonic() + 5  # the server may still be ending a session whose client is gone
    with psycopg.connect(postgres, autocommit=True) as connection:
        while connection.execute(sessions).fetchall():
            assert time.monotonic() < end


def end_claim(url: str) -> None:
    """End the session that holds a claim, as an administrator or a restart would."""
    end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'process %'"
    with psycopg.connect(url) as connection:
        assert connection.execute(end).fetchall() == [(True,)]


@pytest.mark.parametrize("run", [Agent.run, lambda *a, **k: asyncio.run(Agent.arun(*a, **k))], ids=["sync", "async"])
def test_a_holder_that_lost_its_lock_fires_no_further_effect(postgres: str, run: Callable[..., object]) -> None:
    """Its session is ended inside the first payment: the second is not made, and the thread can be resumed."""
    paid: list[str] = []

    @tool
    def pay(to: str) -> str:
        """Pay someone."""
        paid.append(to)
        if to == "ann":
            end_claim(postgres)
        return f"paid {to}"

    script = [reply("", call("pay", to="ann")), reply("", call("pay", to="bob"))]
    agent = Agent(ScriptedModel(script), [tool_policy(pay, effect="write")], storage=postgres)
    with pytest.raises(ThreadLost, match="resume"):
        run(agent, "pay both", thread="t")
    assert paid == ["ann"]
    other = Agent(ScriptedModel(["all paid"]), [pay], storage=postgres)
    assert other.resume("t").answer == "all paid"
    assert paid == ["ann", "bob"]
