"""Gold call lists played through the shipped graph: is a run that does everything right left alone?

    uv pip install --no-deps --target BFCL bfcl-eval && uv pip install --target BFCL mpmath
    uv run python benchmarks/oracle.py --bfcl BFCL [--category base ...] [--limit 20] [--batched] [--effects named]
                                       [--drop-last] [--json]

BFCL is any folder outside the project (or the variable LOOPWRIGHT_BFCL names it). All 800 entries of BFCL's multi_turn
take about two minutes on one core. A model double makes the gold calls of each turn, one a message (`--batched`: all
in one), then ends the turn; every turn is a user message on the same thread. Agent, policies and settings are those
that come without being asked for, storage is `memory:`.

- Tools are the public methods of BFCL's live classes, all from the first turn on. Their schemas come from the
  annotations, but arguments are not checked against them, as BFCL's own runner does not: one gold call in each category
  has a text for an `int`, and its error result belongs to the gold.
- Nothing is declared of a tool, as with most tools. `--effects named` declares what the names say: MathAPI `pure`, what
  only looks `read`, all else `write`; where a person is asked, the call is approved and counted as asked.
- What arrived at the live classes is what BFCL's `multi_turn_checker` is given: it runs these calls and the gold on
  fresh instances and compares states and results turn by turn.
- `--drop-last` leaves out the last call of the last turn that has one. Where the checker rejects the shortened list
  without our graph in between, that call matters, and the checker has to reject what came through the graph.

Ends with 0 when every figure is as it must be, 1 when one is not, 2 when BFCL is not there.
"""

import argparse
import inspect
import json
import os
import sys
import time
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from oracle_bfcl import CATEGORIES, Bfcl, Entry, GoldCall, Steps, dropped, effect_by_name, parsed, written

from loopwright import Agent, RunReport, tool_policy
from loopwright.memory import count_message, count_tools
from loopwright.testing import RawCall, ScriptedModel, call, reply

COLUMNS = ("entries", "calls", "arrived", "error", "noted", "asked", "refused", "served", "rejected", "unknown",
           "not_run", "stopped", "accepted")  # fmt: skip
MUST_BE_NONE = ("asked", "refused", "served", "rejected", "unknown", "not_run", "stopped")

Effects: TypeAlias = Literal["none", "named"]


class Double:
    """What the model says: the calls of the turn that was begun, then that it is done.

    It reports the tokens of whole requests, tools included: a server that reports much less is taken for one that cuts.
    """

    def __init__(self, tools: Sequence[BaseTool]) -> None:
        self._left: deque[list[RawCall]] = deque()
        self._tool_tokens = count_tools([convert_to_openai_tool(tool) for tool in tools])

    def begin(self, calls: Sequence[GoldCall], *, batched: bool) -> None:
        """Have these calls to make: all in one message, or one a message."""
        asked = [call(name, args) for name, args in calls]
        self._left = deque([asked] if batched and asked else [[one] for one in asked])

    def __call__(self, messages: list[BaseMessage]) -> AIMessage:
        calls = self._left.popleft() if self._left else []
        message = reply("" if calls else "Done.", *calls)
        read, wrote = self._tool_tokens + sum(map(count_message, messages)), count_message(message)
        message.usage_metadata = UsageMetadata(input_tokens=read, output_tokens=wrote, total_tokens=read + wrote)
        return message


@dataclass(frozen=True)
class Way:
    """How the lists are played."""

    effects: Effects = "none"
    batched: bool = False
    drop_last: bool = False


@dataclass(frozen=True)
class Played:
    """One entry: counts by column, what was not simply run, and what BFCL's checker has against it ("": nothing).

    `matters` says whether the checker also rejects the same calls without the graph in between.
    """

    id: str
    counts: Counter[str]
    findings: list[str]
    complaint: str
    matters: bool


def play(bench: Bfcl, entry: Entry, way: Way) -> Played:
    """One entry through an agent as it comes."""
    received: list[str] = []
    methods = bench.methods(entry)
    tools = [bench.tool(name, method, received) for name, method in methods.items()]
    if way.effects == "named":
        tools = [tool_policy(tool, effect=effect_by_name(methods[tool.name])) for tool in tools]
    parameters = {name: list(inspect.signature(method).parameters) for name, method in methods.items()}
    double = Double(tools)
    summary = ScriptedModel(lambda _: "All went as planned.")  # else the double would be asked for it
    agent = Agent(ScriptedModel(double), tools, summary_model=summary)
    gold = dropped(entry.gold) if way.drop_last else entry.gold
    findings: list[str] = []
    steps: Steps = []
    for said, turn in zip(entry.users, gold, strict=True):
        double.begin([parsed(text, parameters) for text in turn], batched=way.batched)
        findings += run_turn(agent, entry.id, said)
        steps.append([[text] for text in received])
        received.clear()
    findings += unusual(agent.report(entry.id))
    counts = Counter(finding.split()[0] for finding in findings)
    counts.update(entries=1, calls=sum(map(len, gold)), arrived=sum(map(len, steps)))
    complaint = bench.complaint(entry, steps)
    counts["accepted"] = int(not complaint)
    matters = bool(bench.complaint(entry, [[[text] for text in turn] for turn in gold]))
    return Played(entry.id, counts, findings, complaint, matters)


def run_turn(agent: Agent, thread: str, said: str) -> list[str]:
    """One user message, with every question approved: what was asked, and how the run was stopped, if it was."""
    found: list[str] = []
    result = agent.run(said, thread=thread)
    while result.pending:
        found += [f"asked {written(one.call['name'], one.call['args'])}: {one.description}" for one in result.pending]
        result = agent.resume(thread, decisions={one.id: {"type": "approve"} for one in result.pending})
    return found if result.complete else [*found, f"stopped {result.stop}"]


def unusual(report: RunReport) -> list[str]:
    """The calls of a thread that failed, were not run, or got a note: status first."""
    found: list[str] = []
    for turn in (turn for run in report.runs for turn in run.rounds):
        noted = {name: one.policy for one in turn.decisions for name, rung in one.rungs.items() if rung == "note"}
        for made in turn.calls:
            status = "noted" if made.status == "ok" and made.call_id in noted else made.status
            if status != "ok":
                args = made.args if isinstance(made.args, dict) else {"unreadable": made.args}
                found.append(f"{status} {written(made.tool, args)} at step {turn.step}: {made.result}")
    return found


def verdict(runs: Sequence[Played], *, drop_last: bool) -> tuple[bool, str]:
    """Whether the target is met, and by which figures."""
    if drop_last:
        matters = [run for run in runs if run.matters]
        caught = sum(bool(run.complaint) for run in matters)
        return caught == len(matters), f"rejected {caught} of {len(matters)} where it matters"
    counts = total(runs)
    untouched = counts["arrived"] == counts["calls"] and not any(counts[name] for name in MUST_BE_NONE)
    return untouched and counts["accepted"] == len(runs), f"accepted {counts['accepted']} of {len(runs)}, each call run"


def total(runs: Sequence[Played]) -> Counter[str]:
    """The counts of all runs together."""
    return sum((run.counts for run in runs), Counter())


def row(name: str, runs: Sequence[Played], seconds: float, *, drop_last: bool) -> str:
    """A row of the table."""
    counts = total(runs)
    met, figures = verdict(runs, drop_last=drop_last)
    cells = [name, *(str(counts[column]) for column in COLUMNS), f"{seconds:.0f}"]
    return f"| {' | '.join(cells)} | {figures}: {'met' if met else 'MISSED'} |"


def print_table(bench: Bfcl, categories: Sequence[str], at_most: int | None, way: Way) -> list[Played]:
    """One row a category and one for all; below, every call that did not simply run."""
    print(f"| category | {' | '.join(COLUMNS)} | seconds | target |\n|{'---|' * (len(COLUMNS) + 3)}")
    everything: list[Played] = []
    first = time.perf_counter()
    for category in categories:
        started = time.perf_counter()
        runs = [play(bench, entry, way) for entry in bench.entries(category, at_most)]
        everything += runs
        print(row(category, runs, time.perf_counter() - started, drop_last=way.drop_last), flush=True)
    print(row("all", everything, time.perf_counter() - first, drop_last=way.drop_last))
    for run in everything:
        complaint = [f"complaint {run.complaint}"] if run.complaint and not way.drop_last else []
        print("".join(f"\n{run.id}: {finding}" for finding in [*run.findings, *complaint]), end="")
    print()
    return everything


def print_json(bench: Bfcl, categories: Sequence[str], at_most: int | None, way: Way) -> list[Played]:
    """One JSON object a line and entry."""
    runs: list[Played] = []
    for category in categories:
        for entry in bench.entries(category, at_most):
            runs.append(play(bench, entry, way))
            print(json.dumps(vars(runs[-1])), flush=True)
    return runs


def main() -> None:
    """Play the lists and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.usage = "oracle.py --bfcl FOLDER [options]"
    parser.add_argument("--bfcl", type=Path, default=os.environ.get("LOOPWRIGHT_BFCL"), help="where bfcl-eval lies")
    parser.add_argument("--category", nargs="+", choices=CATEGORIES, default=CATEGORIES)
    parser.add_argument("--limit", type=int, help="only the first so many entries of each category")
    parser.add_argument("--effects", choices=get_args(Effects), default="none", help="what is declared of the tools")
    parser.add_argument("--batched", action="store_true", help="all calls of a turn in one message")
    parser.add_argument("--drop-last", action="store_true", help="leave out the last call of the last turn")
    parser.add_argument("--json", action="store_true", help="one JSON object a line and entry")
    options = parser.parse_args()
    if options.bfcl is None:
        parser.error("BFCL is not there: install it as --help says, and name its folder with --bfcl.")
    try:
        bench = Bfcl(options.bfcl)
    except FileNotFoundError as error:
        parser.error(str(error))
    way = Way(options.effects, options.batched, options.drop_last)
    runs = (print_json if options.json else print_table)(bench, options.category, options.limit, way)
    met, _ = verdict(runs, drop_last=way.drop_last)
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
