"""What the live view costs: milliseconds and processor time of a round with it and with --quiet, in a real terminal.

    uv run python benchmarks/live_view.py [--rounds 200] [--pairs 15] [--round 10]

Each run is a process of its own that goes the command line's way (`Session.follow`, SQLite file); its streams are a
terminal of 80x24, or pipes, that this process reads. The model streams a reply of eight words and one call, and waits
before it so long that a --quiet round takes `--round` milliseconds in all (found beforehand). Runs with and without the
view alternate, and who goes first does too. Medians, what the view adds in the median pair, and the best run of each
against the other's, which is what counts where something else uses the machine.
"""

import argparse
import json
import os
import pty
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from fcntl import ioctl
from pathlib import Path
from struct import pack
from termios import TIOCSWINSZ
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import tool

from loopwright import Agent, tool_policy
from loopwright_studio.configuration import Configuration
from loopwright_studio.running import Session


@dataclass(frozen=True)
class Cost:
    """Milliseconds of a round: by the clock, and of the processor."""

    wall: float
    processor: float


class Double(BaseChatModel):
    """Waits, says eight words and asks for the next page; ends after `rounds` pages."""

    rounds: int
    wait: float

    @property
    def _llm_type(self) -> str:
        return "double"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Runnable[Any, AIMessage]:
        return self.bind(offered=True)

    def _stream(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        time.sleep(self.wait)
        page = sum(isinstance(message, ToolMessage) for message in messages)
        for word in f"Now I look at page {page} of them".split(" "):
            yield ChatGenerationChunk(message=AIMessageChunk(content=f"{word} "))
        if page < self.rounds:
            chunk = tool_call_chunk(name="fetch", args=json.dumps({"page": page}), id=f"call{page}", index=0)
            yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=[chunk]))

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        raise NotImplementedError("it only streams")


@tool
def fetch(page: int) -> str:
    """Fetch a page."""
    return f"page {page}: {'0123456789abcdef ' * 8}"


def cost_here(rounds: int, wait: float, quiet: bool) -> Cost:
    """One run in this process, on the streams that it was started with."""
    with tempfile.TemporaryDirectory() as folder:
        configuration = Configuration(
            storage=f"sqlite:///{folder}/runs.db",
            max_model_calls=2 * rounds,
            max_tokens=1_000_000_000,
            context_tokens=100_000_000,
        )
        agent = Agent(
            Double(rounds=rounds, wait=wait),
            [tool_policy(fetch, effect="read")],
            settings=configuration.settings(),
            storage=configuration.storage,
        )
        session = Session(agent, configuration, None, quiet, as_json=False)
        wall, processor = time.perf_counter(), time.process_time()
        session.follow(agent.stream("fetch all pages", thread="t"))
        return Cost((time.perf_counter() - wall) * 1000 / rounds, (time.process_time() - processor) * 1000 / rounds)


def cost(rounds: int, wait: float, quiet: bool, terminal: bool) -> Cost:
    """One run as a process of its own, in a terminal or in pipes that are read meanwhile."""
    ours, theirs = pty.openpty() if terminal else os.pipe()
    if terminal:
        ioctl(theirs, TIOCSWINSZ, pack("HHHH", 24, 80, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder, "cost.json")
        words = [sys.executable, __file__, "--rounds", str(rounds), "--wait", str(wait), "--to", str(found)]
        child = subprocess.Popen(
            [*words, "--quiet"] if quiet else words,
            stdin=theirs if terminal else subprocess.DEVNULL,
            stdout=theirs,
            stderr=theirs,
            env={**environment, "TERM": "xterm-256color"},
        )
        os.close(theirs)
        reader = threading.Thread(target=_read, args=(ours,))
        reader.start()
        if child.wait():
            raise SystemExit(f"The measured process failed with {child.returncode}.")
        reader.join()
        os.close(ours)
        return Cost(**json.loads(found.read_text()))


def _read(stream: int) -> None:
    with suppress(OSError):  # a terminal whose other end is closed
        while os.read(stream, 65536):
            pass


def wait_for(rounds: int, target: float) -> float:
    """Seconds that the model has to wait so that a --quiet round takes `target` milliseconds."""
    wait = 0.0
    for _ in range(2):
        wait = max(0.0, wait + (target - min(cost(rounds, wait, True, True).wall for _ in range(4))) / 1000)
    return wait


def print_line(where: str, quiet: list[Cost], live: list[Cost]) -> None:
    """One line of the table."""
    before, after = (statistics.median(each.wall for each in costs) for costs in (quiet, live))
    added = statistics.median((b.wall / a.wall - 1) * 100 for a, b in zip(quiet, live, strict=True))
    best, best_live = (min(each.wall for each in costs) for costs in (quiet, live))
    processor = statistics.median(b.processor - a.processor for a, b in zip(quiet, live, strict=True))
    least, least_live = (min(each.processor for each in costs) for costs in (quiet, live))
    print(
        f"| {where} | {before:.2f} | {after:.2f} | {added:+.1f} % | {best:.2f} | {best_live:.2f} "
        f"| {(best_live / best - 1) * 100:+.1f} % | {processor:+.2f} | {least_live - least:+.2f} |",
        flush=True,
    )


def main() -> None:
    """Print the table; with `--to`, be the process that is measured."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--round", type=float, default=10.0, help="milliseconds of a --quiet round")
    parser.add_argument("--wait", type=float, default=0.0, help=argparse.SUPPRESS)
    parser.add_argument("--quiet", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--to", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.to is not None:
        options.to.write_text(json.dumps(asdict(cost_here(options.rounds, options.wait, options.quiet))))
        return
    wait = wait_for(options.rounds, options.round)
    print(f"{options.rounds} rounds, {options.pairs} pairs; the model waits {wait * 1000:.2f} ms.\n")
    print("| where | quiet ms | live ms | added | best quiet | best live | added | CPU ms added | in the best |")
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    for where in ("terminal", "pipe"):
        costs: dict[bool, list[Cost]] = {True: [], False: []}
        for number in range(options.pairs):
            for quiet in (True, False) if number % 2 else (False, True):
                costs[quiet].append(cost(options.rounds, wait, quiet, where == "terminal"))
        print_line(where, costs[True], costs[False])


if __name__ == "__main__":
    main()
