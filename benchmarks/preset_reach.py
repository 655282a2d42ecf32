"""Which tasks of a simulated world a preset's own numbers can reach, and what share of them its recorded runs did.

    uv run python benchmarks/preset_reach.py WORLD.py [--cap 20] [--runs RUNS.jsonl --stops STOPS.jsonl]

WORLD.py is a benchmark's world: TASKS (id, text, clauses), FILES and KEYVAL. A task is out of reach when the fewest
model calls that it takes are more than the cap. They are counted from the preset alone:

- a file is read as its result cap leaves it (`max_result_characters`, `max_result_tokens`: ends and lines in use).
  Where the value is not in sight the next read begins where the head ended, so small caps take many reads;
- with one call a turn (`calls_per_turn`, or a text protocol) every read is a turn; else all that are ready are one;
- one more call gives the answer.

`--cap 0` takes each preset's own step cap. With recorded runs (JSON lines with h, seed, task, ok) and their stops (rid,
policy, reason) the share done of the reachable tasks stands beside it, and without the runs that the preset's own rule
on repeats or errors ended, whose share is given too.
"""

import argparse
import importlib.util
import json
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from loopwright import Settings
from loopwright.memory import clip, count_text, rare_words
from loopwright.presets import PRESETS, PresetName

OWN_RULES = ("same_call", "error_rounds")
"""Policies that stand for a preset's own rule on repeats and errors."""


@dataclass(frozen=True)
class Reach:
    """What one preset's numbers allow in a world."""

    world: ModuleType
    settings: Settings

    def calls(self, task: Mapping[str, Any]) -> int:
        """The fewest model calls that bring every value of the task and the answer."""
        done: dict[str, int] = {}
        turns = 0
        for label, clause in task["clauses"]:
            if not label:
                continue
            needed = [done[other] for other in re.findall(r"\(([a-z])\)", clause)]
            reads = self._reads(task["text"], clause)
            if self._one_call():
                turns += reads
                done[label] = turns
            else:
                done[label] = max(needed, default=0) + reads
                turns = max(turns, done[label])
        return turns + 1

    def _one_call(self) -> bool:
        return self.settings.tools.calls_per_turn == 1 or self.settings.protocol != "native"

    def _reads(self, task: str, clause: str) -> int:
        """Calls until the clause's value is in sight: 1, but for a file whose value is clipped away."""
        named = re.match(r"find the value of (\w+) in file ([\w./]+)", clause)
        if named is None:
            return 1
        key, path = named.groups()
        text, offset, reads = self.world.FILES[path], 0, 0
        while True:
            reads += 1
            page = f"[file {path} chars {offset}-{len(text)} of {len(text)}]\n{text[offset:]}"
            shown, head = self._clipped(page, rare_words([task]))
            if re.search(rf"\b{key} = \w", shown) or offset + head >= len(text):
                return reads
            offset += head

    def _clipped(self, page: str, words: frozenset[str]) -> tuple[str, int]:
        """The page as the model sees it, and how much of the file its head holds."""
        tools, tokens = self.settings.tools, count_text(page)
        size = min(len(page), len(page) * tools.max_result_tokens // max(1, tokens))
        most = tools.max_result_characters
        if most is not None and most < size:
            head, tail = most // 2, most // 2
        elif size < len(page):
            head, tail = size // 2, size // 4
        else:
            return page, len(page)
        return clip(page, head, tail, words), max(1, head - page.index("\n"))


def load_world(path: Path) -> ModuleType:
    """The world's module. Raises SystemExit when there is none."""
    spec = importlib.util.spec_from_file_location("world", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise SystemExit(f"There is no world at {path}: give the file with TASKS and FILES.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read_lines(path: Path | None) -> Iterator[dict[str, Any]]:
    """The records of a JSON lines file; none where no file is given."""
    if path is not None:
        yield from (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line)


def ended_by_rule(stops: Mapping[str, Mapping[str, Any]], profile: str, run: Mapping[str, Any]) -> bool:
    """Whether the preset's own rule ended this run."""
    stop = stops.get(f"{run['h']}~{profile}~{run['seed']}~{run['task']}", {})
    return stop.get("policy") in OWN_RULES


def figures(name: PresetName, cap: int, world: ModuleType, runs: list[dict[str, Any]], ended: Any) -> list[str]:
    """One row: the tasks out of reach, and of the recorded runs within reach what was done."""
    reach = Reach(world, Settings(preset=name))
    most = cap or reach.settings.max_model_calls
    calls = {task["id"]: reach.calls(task) for task in world.TASKS}
    out = [task for task, count in calls.items() if count > most]
    row = [name, str(most), str(max(calls.values())), f"{len(out)} of {len(calls)}", " ".join(out) or "-"]
    own = [run for run in runs if run["h"] == name and run["task"] not in out]
    if own:
        left = [run for run in own if not (ended(run) and not run["ok"])]
        row += [_share(own), _percent(len(own) - len(left), len(own)), _share(left)]
    return row


def _share(runs: list[dict[str, Any]]) -> str:
    return _percent(sum(bool(run["ok"]) for run in runs), len(runs))


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}" if whole else "-"


@cache
def parser() -> argparse.ArgumentParser:
    """The command's arguments."""
    made = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    made.add_argument("world", type=Path, help="the file with TASKS and FILES")
    made.add_argument("--cap", type=int, default=20, help="model calls of a run; 0: the preset's own")
    made.add_argument("--profile", default="base", help="profile of the recorded runs, as their stops name it")
    made.add_argument("--runs", type=Path, help="JSON lines of recorded runs: h, seed, task, ok")
    made.add_argument("--stops", type=Path, help="JSON lines of their stops: rid, reason, policy")
    return made


def main() -> int:
    """Print the table."""
    given = parser().parse_args()
    world = load_world(given.world)
    runs = list(read_lines(given.runs))
    stops = {stop["rid"]: stop for stop in read_lines(given.stops)}
    titles = ["preset", "cap", "most calls needed", "out of reach", "which"]
    titles += ["done %", "ended by its own rule %", "done % without those"] if runs else []
    print(f"| {' | '.join(titles)} |")
    print("|---" * len(titles) + "|")
    for name in PRESETS:
        row = figures(name, given.cap, world, runs, lambda run: ended_by_rule(stops, given.profile, run))
        print(f"| {' | '.join(row)} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
