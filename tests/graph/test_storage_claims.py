"""One run at a time holds a thread: in memory, beside a file and on a server; awaited and not."""

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from loopwright import Agent
from loopwright.errors import ThreadBusy
from loopwright.storage import Place, place_of
from loopwright.testing import ScriptedModel, call, reply

HOLDER = """
import sys
from loopwright.storage import place_of
with place_of(sys.argv[1]).claim("t1"):
    print("held", flush=True); sys.stdin.read()
"""


async def aclaim(place: Place, thread: str) -> None:
    """Claim and let go."""
    async with place.aclaim(thread) as claim:
        await claim.acheck()


def claim(place: Place, thread: str) -> None:
    """Claim and let go."""
    with place.claim(thread) as claim:
        claim.check()


def awaited_claim(place: Place, thread: str) -> None:
    """Claim and let go, awaiting."""
    asyncio.run(aclaim(place, thread))


def test_one_run_holds_a_thread(storage_url: str) -> None:
    """A second claim is refused while the first is held, other threads are free, a released claim can be taken."""
    place = place_of(storage_url)
    with place.claim("t1"):
        with pytest.raises(ThreadBusy, match=r"'t1'.* since 20"):
            claim(place, "t1")
        claim(place, "t10")
    claim(place, "t1")


def test_awaited_claims_are_the_same_claims(storage_url: str) -> None:
    """An awaited claim refuses another of either form, and leaves nothing behind when its task is cancelled."""

    async def hold(place: Place) -> None:
        async with place.aclaim("t1"):
            with pytest.raises(ThreadBusy):
                await aclaim(place, "t1")
            with pytest.raises(ThreadBusy):
                claim(place, "t1")
            await aclaim(place, "t2")
        held = asyncio.Event()

        async def wait() -> None:
            async with place.aclaim("t1"):
                held.set()
                await asyncio.Event().wait()

        task = asyncio.create_task(wait())
        await held.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await aclaim(place, "t1")

    asyncio.run(hold(place_of(storage_url)))


@pytest.mark.parametrize("turns", range(5))
def test_a_claim_cancelled_while_it_is_taken_is_let_go(storage_url: str, turns: int) -> None:
    """However far the taking has come when its task is cancelled, the thread is free once the task has ended."""

    async def run(place: Place) -> None:
        taking = asyncio.create_task(aclaim(place, "t1"))
        for _ in range(turns):
            await asyncio.sleep(0)
        taking.cancel()
        await asyncio.gather(taking, return_exceptions=True)
        await aclaim(place, "t1")

    asyncio.run(run(place_of(storage_url)))


def test_a_run_inside_a_run_of_the_same_thread_is_refused(storage_url: str) -> None:
    """A tool that runs its own thread again is refused; the run around it goes on and ends."""
    agents: list[Agent] = []

    def again(task: str) -> str:
        """Run the task again."""
        return agents[0].run(task, thread="t").answer

    agents.append(Agent(ScriptedModel([reply("", call("again", task="x")), "done"]), [again], storage=storage_url))
    result = agents[0].run("x", thread="t")
    assert result.answer == "done"
    (told,) = [message.text for message in result.messages if message.type == "tool"]
    assert "is being run by" in told


@contextmanager
def holder(url: str) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the thread, gone at the end."""
    command = [sys.executable, "-c", HOLDER, url]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "held\n"
        yield child
    finally:
        child.kill()
        child.communicate()


@pytest.fixture(params=["sqlite", "postgres"])
def shared_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A storage that processes share."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/runs.db"
    url: str = request.getfixturevalue("postgres")
    return url


@pytest.mark.parametrize("take", [claim, awaited_claim])
def test_the_holder_in_another_process_is_named(shared_url: str, take: Callable[[Place, str], None]) -> None:
    """The refusal says which process holds the thread, running or stopped; a killed one has lost it within 1 s."""
    place = place_of(shared_url)
    with holder(shared_url) as child:
        named = f"process {child.pid} on {socket.gethostname()} since 20"
        with pytest.raises(ThreadBusy, match=named):
            take(place, "t1")
        os.kill(child.pid, signal.SIGSTOP)
        with pytest.raises(ThreadBusy, match=named):
            take(place, "t1")
        assert re.match(named, str(place.holder("t1")))
        assert place.holder("t1") == asyncio.run(place.aholder("t1"))
        assert place.holder("t10") is None
        take(place, "t10")
        child.kill()
        end = time.monotonic() + 1
        while not _free(place):
            assert time.monotonic() < end, "the claim of a killed process outlived it by a second"
        assert place.holder("t1") is None
        take(place, "t1")


def test_a_later_process_with_the_number_of_a_killed_holder_holds_nothing(tmp_path: Path) -> None:
    """What a killed process wrote beside its lock counts for nothing once its number is another's; looking says so."""
    place = place_of(f"sqlite:///{tmp_path}/runs.db")
    with holder(place.url) as child:
        (named,) = (tmp_path / "runs.db.locks").glob("*.json")
        child.kill()
    named.write_text(json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "since": 1.0}))
    assert place.holder("t1") is None
    claim(place, "t1")
    named.write_text("broken")
    assert place.holder("t1") is None


def test_a_holder_in_memory_is_this_process() -> None:
    """It is named while the claim lasts."""
    place = place_of("memory:")
    with place.claim("t1"):
        assert str(place.holder("t1")).startswith("this process since 20")
    assert place.holder("t1") is None


def _free(place: Place) -> bool:
    try:
        claim(place, "t1")
    except ThreadBusy:
        return False
    return True
