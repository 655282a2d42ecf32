"""Kills runs with SIGKILL at random moments, resumes them, and counts what was done twice, lost or not told.

    uv run python benchmarks/kill_storm.py --kills 300
    uv run python benchmarks/kill_storm.py --kills 100 --asynchronous
    uv run python benchmarks/kill_storm.py --kills 100 --storage postgresql://postgres@127.0.0.1:5432/postgres
    uv run python benchmarks/kill_storm.py --placed      # before and after every call of checkpointer and journal
    uv run python benchmarks/kill_storm.py --placed --storage postgresql://postgres@127.0.0.1:5432/postgres

A trial is one run of three rounds, each two parallel reads and one journaled write; the last write needs a person's
approval. A child process plays it and is killed up to three times; then one is let live. Every effect is a line in a
file, on disk before the tool goes on. Exits 1 when a bound of issue 4 is missed. Needs `os.fork`.
"""

import argparse
import asyncio
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.tools import BaseTool, tool

from loopwright import Agent, Pending, RunResult, tool_policy
from loopwright.memory import count_text
from loopwright.testing import ScriptedModel, call, reply

MOST_KILLS = 3
"""Kills of one trial: after them a child is let live."""
MOST_REPEATED = 0.05
"""Share of finished reads that may run again: those whose checkpoint was not on disk when the process died."""
WRITES = ("book-1", "book-2", "transfer-3")
Line = Callable[[str], None]


def line_in(path: Path) -> Line:
    """Appends a line that is on disk when it returns."""

    def write(text: str) -> None:
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{text}\n")
            file.flush()
            os.fsync(file.fileno())

    return write


def dawdle() -> None:
    """Take a few milliseconds, so that a kill finds every moment."""
    time.sleep(random.uniform(0, 0.004))


def tools(folder: Path) -> list[BaseTool]:
    """One read and two writes; the second write asks for approval."""
    read, effect = line_in(folder / "reads.txt"), line_in(folder / "effects.txt")

    @tool
    def look(at: str) -> str:
        """Look at something."""
        dawdle()
        read(at)
        return f"saw {at}"

    @tool
    def book(item: str) -> str:
        """Book something."""
        dawdle()
        effect(item)
        dawdle()
        return f"booked {item}"

    @tool
    def transfer(item: str) -> str:
        """Transfer something."""
        dawdle()
        effect(item)
        dawdle()
        return f"booked {item}"

    return [
        tool_policy(look, effect="read"),
        tool_policy(book, effect="write"),
        tool_policy(transfer, effect="write", approval=True),
    ]


def fate(text: str) -> str:
    """What a result says of a write: made, not made, or that nobody knows."""
    if not text.startswith("OUTCOME UNKNOWN"):
        return "made" if text.startswith("booked") else "not made"
    if "it did happen" in text or "ended after all" in text:
        return "made"
    return "not made" if "did not happen" in text else "unknown"


def play(messages: list[BaseMessage]) -> AIMessage | str:
    """The model: three rounds of two reads and a write, then the fate of every write."""
    dawdle()
    done = sum(1 for message in messages if isinstance(message, AIMessage))
    if done < len(WRITES):
        write = WRITES[done]
        looks = [call("look", at=f"{write}-a"), call("look", at=f"{write}-b")]
        return reply("", *looks, call(write.partition("-")[0], item=write))
    fates = [fate(m.text) for m in messages if isinstance(m, ToolMessage) and m.name in ("book", "transfer")]
    return ", ".join(fates)


def answers(questions: tuple[Pending, ...], folder: Path) -> dict[str, dict[str, str]]:
    """What the person says: yes to the transfer, and of an unknown outcome what the file of effects holds."""
    path = folder / "effects.txt"
    lines = path.read_text(encoding="utf-8").split() if path.exists() else []
    return {
        question.id: {"type": "approve" if question.kind == "approval" or WRITES[-1] in lines else "reject"}
        for question in questions
    }


def victim(url: str, folder: Path, thread: str, asynchronous: bool) -> None:
    """One process that runs the trial to its end, as often as it is started anew."""
    agent = Agent(ScriptedModel(play), tools(folder), storage=url)

    def once(pending: tuple[Pending, ...] | None) -> RunResult:
        if pending is None:
            if asynchronous:
                return asyncio.run(agent.arun("go", thread=thread, run_id="r1"))
            return agent.run("go", thread=thread, run_id="r1")
        if asynchronous:
            return asyncio.run(agent.aresume(thread, decisions=answers(pending, folder)))
        return agent.resume(thread, decisions=answers(pending, folder))

    result = once(None)
    while result.pending:
        result = once(result.pending)
    told = {m.tool_call_id: m.text for m in result.messages if isinstance(m, ToolMessage)}
    calls = [c for m in result.messages if isinstance(m, AIMessage) for c in m.tool_calls]
    record = {
        "answer": result.answer,
        "fates": {str(c["args"]["item"]): fate(told.get(c["id"] or "", "")) for c in calls if "item" in c["args"]},
        "results": len(told),
        "calls": len(calls),
    }
    (folder / "end.json").write_text(json.dumps(record), encoding="utf-8")


def forked(work: Callable[[], None]) -> int:
    """Do the work in a child that shares our imports; its process id."""
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        work()
        code = 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(code)


def killed_after(child: int, seconds: float) -> bool:
    """Kill the child after this time; whether it was still running."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            if status:
                raise SystemExit("a child ended with an error: see its traceback above")
            return False
        time.sleep(0.0005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return True


@dataclass
class Tally:
    """What the storm did and found."""

    kills: int = 0
    trials: int = 0
    wrong: int = 0
    twice: int = 0
    lost: int = 0
    untold: int = 0
    unknown: int = 0
    reads: int = 0
    repeated: int = 0
    notes: list[str] = field(default_factory=list)

    def add(self, folder: Path) -> None:
        """Judge a trial that has ended: its files against what the run says."""
        end: dict[str, Any] = json.loads((folder / "end.json").read_text(encoding="utf-8"))
        effects = Counter(_lines(folder / "effects.txt"))
        reads = Counter(_lines(folder / "reads.txt"))
        self.trials += 1
        self.reads += len(reads)
        self.repeated += sum(reads.values()) - len(reads)
        fates: dict[str, str] = end["fates"]
        expected = ", ".join(fates.get(write, "missing") for write in WRITES)
        if end["answer"] != expected or end["results"] != end["calls"] or len(fates) != len(WRITES):
            self.wrong += 1
            self.notes.append(f"{folder.name}: {end}")
        for write in WRITES:
            times, told = effects[write], fates.get(write, "missing")
            self.twice += times > 1
            self.lost += told == "made" and times == 0
            self.untold += told in ("not made", "missing") and times > 0
            self.unknown += told == "unknown"

    @property
    def good(self) -> bool:
        """Whether every bound was kept."""
        faults = self.wrong + self.twice + self.lost + self.untold
        return not faults and self.repeated <= MOST_REPEATED * self.reads

    def __str__(self) -> str:
        share = self.repeated / self.reads if self.reads else 0
        return (
            f"kills {self.kills}, trials {self.trials}, effects {len(WRITES) * self.trials}: twice {self.twice}, "
            f"lost {self.lost}, untold {self.untold}, told as unknown {self.unknown}; wrong answers {self.wrong}; "
            f"finished reads repeated {self.repeated} of {self.reads} ({share:.1%})"
        )


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split() if path.exists() else []


def storm(kills: int, url: str, folder: Path, asynchronous: bool) -> Tally:
    """Trials until so many kills have hit; `{folder}` in the URL is each trial's own folder."""
    tally, usual = Tally(), 0.5
    while tally.kills < kills:
        place = folder / f"trial-{tally.trials}"
        place.mkdir()
        where, thread = url.replace("{folder}", str(place)), f"{folder.name}-{tally.trials}"
        for attempt in range(MOST_KILLS + 1):
            last = attempt == MOST_KILLS
            started = time.monotonic()
            child = forked(lambda: victim(where, place, thread, asynchronous))  # noqa: B023 - runs before the next turn
            if killed_after(child, 600 if last else random.uniform(0, usual)):
                tally.kills += 1
                continue
            usual = 0.8 * usual + 0.2 * (time.monotonic() - started) if attempt == 0 else usual
            break
        tally.add(place)
    return tally


def main() -> int:
    """Run the storm and print its tally."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--storage", default="sqlite:///{folder}/runs.db", help="{folder} is each trial's own folder")
    parser.add_argument("--asynchronous", action="store_true", help="drive the runs with arun and aresume")
    parser.add_argument("--placed", action="store_true", help="kill at every call of checkpointer and store instead")
    parser.add_argument("--every", type=int, default=1, help="with --placed: only each so-manyth call")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    random.seed(options.seed)
    count_text("")  # the token table is loaded once, here
    with tempfile.TemporaryDirectory() as folder:
        if options.placed:
            from kill_points import placed

            tally = placed(Path(folder), options.storage, options.every)
        else:
            tally = storm(options.kills, options.storage, Path(folder), options.asynchronous)
    print(tally)
    for note in tally.notes[:10]:
        print(note, file=sys.stderr)
    return 0 if tally.good else 1


if __name__ == "__main__":
    raise SystemExit(main())
