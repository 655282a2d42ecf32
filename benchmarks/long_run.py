"""Times the memory in a run of many steps: measuring the next request, and bringing it within its budget.

    uv run python benchmarks/long_run.py [--steps 400] [--budget 8000]

A scripted model reads one page of 2 kB a step, and its summaries are one sentence. At each step the next request is
measured as the guard does it, incrementally; a compression is timed alone, the summary model's own time left out.
"""

import argparse
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import tool_call

from loopwright.memory import Material, compress, measure_next, total
from loopwright.settings import MemorySettings
from loopwright.state import EMPTY_VIEW, Event, ModelEvent, View
from loopwright.steps import Core, drive

PROMPT = "You read one page after the other."
MEASURING_MS, SLOWER, ROUNDS_A_SUMMARY = 2.0, 1.5, 8
"""Targets: ms of one measure, a late compression in early ones, steps for each that asks for a summary."""


@dataclass
class Run:
    """One run on its way, with what was timed."""

    budget: int
    messages: list[BaseMessage] = field(default_factory=lambda: [HumanMessage("Read all pages.", id="u")])
    events: list[Event] = field(default_factory=list)
    view: View = field(default_factory=lambda: EMPTY_VIEW)
    measured: list[float] = field(default_factory=list)
    compressed: list[tuple[int, float]] = field(default_factory=list)
    summaries: list[int] = field(default_factory=list)
    over: int = 0

    def step(self, number: int) -> None:
        """The next request is measured, and shortened where it must be; then the model reads another page."""
        started = time.perf_counter()
        parts = measure_next(self.messages, self.view, self.events, system_prompt=PROMPT)
        self.measured.append(1000 * (time.perf_counter() - started))
        if total(parts) > self.budget:
            self._compress(number)
            parts = measure_next(self.messages, self.view, [], system_prompt=PROMPT)
        self.over += total(parts) > self.budget
        call = tool_call(name="read_page", args={"page": number}, id=f"c{number}")
        self.messages.append(AIMessage("", id=f"a{number}", tool_calls=[call]))
        text = "".join(f"page {number}, entry {line}: value {number * 7919 + line}\n" for line in range(60))[:2000]
        self.messages.append(ToolMessage(text, tool_call_id=f"c{number}", id=f"result-c{number}", name="read_page"))
        event = cast("ModelEvent", {"kind": "model", "message_id": f"a{number}", "parts": parts})
        self.events.append(event)

    def _compress(self, number: int) -> None:
        def summarise(_: list[BaseMessage]) -> Core[str | None]:
            asked.append(number)
            return f"Pages up to {number} were read one after the other."
            yield  # makes this a core

        asked: list[int] = []
        target, settings = int(self.budget * 0.6), MemorySettings()
        started = time.perf_counter()
        material = Material(self.messages, PROMPT, self.budget, target, settings=settings)
        self.view = drive(compress(material, self.view, summarise)).view
        self.compressed.append((number, 1000 * (time.perf_counter() - started)))
        self.summaries += asked[:1]


def near(timed: Sequence[tuple[int, float]], step: int, width: int = 30) -> float:
    """Median ms of the compressions around a step."""
    return statistics.median(took for number, took in timed if abs(number - step) <= width)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--budget", type=int, default=8000, help="tokens of a request")
    options = parser.parse_args()
    run = Run(options.budget)
    for number in range(options.steps):
        run.step(number)
    late, early = near(run.compressed, options.steps - 30), near(run.compressed, options.steps // 4)
    measuring = statistics.median(run.measured[-100:])
    share = options.steps / max(1, len(run.summaries))
    print("| what | value | target |\n|---|---|---|")
    print(f"| requests over the budget | {run.over} | 0 |")
    print(f"| measuring, median of the last 100 steps | {measuring:.2f} ms | <= {MEASURING_MS} ms |")
    print(f"| compressing at step {options.steps} | {late:.1f} ms, {late / early:.2f} x | <= {SLOWER} x |")
    print(f"| steps for each summary | {share:.1f} | >= {ROUNDS_A_SUMMARY} |")


if __name__ == "__main__":
    main()
