"""Many processes on one storage: runs on distinct threads, then all on one thread.

    uv run python benchmarks/many_processes.py    # a SQLite file: 8 processes, 200 runs, 48 on one thread
    uv run python benchmarks/many_processes.py --storage postgresql://... --processes 8 --runs 200 --shared-runs 48

Each run makes a read and a journaled write (a line in a file, synced), and answers. On one thread a refused process
tries again; each write notes that it began and ended, so that two holders at once would show. Ends with 1 if a run
failed, an effect is missing or doubled, or two held the thread at once.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.tools import tool

from loopwright import Agent, tool_policy
from loopwright.errors import LoopwrightError, ThreadBusy
from loopwright.testing import ScriptedModel, call, reply


def note(path: Path, line: str) -> None:
    """Append a line that is on disk when this returns."""
    descriptor = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    try:
        os.write(descriptor, f"{line}\n".encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def agent(storage: str, effects: Path) -> Agent:
    """An agent that looks, pays whom the task names, and answers with that name."""

    @tool
    def look(at: str) -> str:
        """Look."""
        return f"saw {at}"

    @tool
    def pay(to: str) -> str:
        """Pay."""
        note(effects, f"begin {to}")
        note(effects, f"end {to}")
        return f"paid {to}"

    def play(messages: Sequence[BaseMessage]) -> Any:
        task = max(i for i, message in enumerate(messages) if message.type == "human")
        name = messages[task].text
        said = len(messages) - 1 - task
        return {0: reply("", call("look", at=name)), 2: reply("", call("pay", to=name))}.get(said, f"done {name}")

    return Agent(
        ScriptedModel(play), [tool_policy(look, effect="read"), tool_policy(pay, effect="write")], storage=storage
    )


def work(storage: str, effects: Path, names: Sequence[str], thread: str | None) -> None:
    """Run each name, on a thread of its own or on the one given; print how each ended and how often it was refused."""
    worker = agent(storage, effects)
    for name in names:
        refused = 0
        while True:
            try:
                result = worker.run(name, thread=thread or name, run_id=name)
            except ThreadBusy:
                refused += 1
                time.sleep(0.05)
                continue
            except LoopwrightError as error:
                print(f"failed {name}: {error}", flush=True)
                break
            ended = "ended" if result.answer == f"done {name}" else f"wrong {result.answer!r}, {result.stop},"
            print(f"{ended} {name} {refused}", flush=True)
            break


def together(storage: str, processes: int, names: Sequence[str], thread: str | None, effects: Path) -> list[str]:
    """What all processes printed, each having a share of the names."""
    here = [sys.executable, __file__, "--storage", storage, "--work", str(effects)]
    here += ["--on", thread] if thread else []
    children = [
        subprocess.Popen([*here, "--names", *names[start::processes]], stdout=subprocess.PIPE, text=True)
        for start in range(processes)
    ]
    return [line for child in children for line in child.communicate()[0].splitlines()]


def judge(what: str, lines: Sequence[str], names: Sequence[str], effects: Path, *, alone: bool) -> bool:
    """Print how a part went; true when it went well."""
    ended = sum(line.startswith("ended") for line in lines)
    written = effects.read_text().splitlines()
    paid = Counter(line.removeprefix("begin ") for line in written if line.startswith("begin"))
    once = sum(paid[name] == 1 for name in names)
    refused = sum(int(line.rpartition(" ")[2]) for line in lines if line.startswith("ended"))
    print(f"{what}: {ended} of {len(names)} runs ended, {once} effects exactly once, {refused} refusals")
    for line in lines:
        if not line.startswith("ended"):
            print(f"  {line}")
    if alone:
        holders = most_at_once(written)
        print(f"{what}: at most {holders} holder at a time")
        return ended == once == len(names) and holders == 1
    return ended == once == len(names)


def most_at_once(written: Sequence[str]) -> int:
    """The most writes that had begun and not ended at any moment."""
    now = most = 0
    for line in written:
        now += 1 if line.startswith("begin") else -1
        most = max(most, now)
    return most


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--storage", default="")
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--shared-runs", type=int, default=48)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--on")
    parser.add_argument("--names", nargs="*", default=[])
    given = parser.parse_args()
    if given.work:
        work(given.storage, given.work, given.names, given.on)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        storage = given.storage or f"sqlite:///{folder}/runs.db"
        good = True
        parts = (("distinct threads", given.runs, None), ("one thread", given.shared_runs, f"shared-{os.getpid()}"))
        for what, runs, thread in parts:
            names = [f"{what.replace(' ', '-')}-{os.getpid()}-{number}" for number in range(runs)]
            effects = Path(folder, f"{what}.txt")
            effects.touch()
            started = time.perf_counter()
            lines = together(storage, given.processes, names, thread, effects)
            good = judge(what, lines, names, effects, alone=thread is not None) and good
            print(f"{what}: {time.perf_counter() - started:.1f} s with {given.processes} processes")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
