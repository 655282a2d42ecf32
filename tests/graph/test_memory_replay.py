"""benchmarks/memory_replay.py: what it counts, and what our rendering reaches on recorded runs."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


def _loaded() -> ModuleType:
    path = Path(__file__).parents[2] / "benchmarks" / "memory_replay.py"
    spec = importlib.util.spec_from_file_location("memory_replay", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


memory_replay = _loaded()
FOLDER: Path = memory_replay.FOLDER


def recording(pages: int) -> Any:
    """A task that names a code, pages that each hold an id, and a call that uses the first page's id and the code."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": "s"}, {"role": "user", "content": "Find code X77."}]
    for number in range(pages + 1):
        args = {"page": number} if number < pages else {"order": "ord_4711", "code": "X77"}
        made = {"name": "look", "arguments": json.dumps(args)}
        content = f"page {number}: order ord_{4711 + number}\n" + "nothing else stands here\n" * 60
        messages.append({"role": "assistant", "content": "", "tool_calls": [{"id": f"c{number}", "function": made}]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": content})
    return {"id": "own", "messages": messages}


def test_only_arguments_known_from_results_alone_are_counted() -> None:
    """The id of the first page is one; the code, which the user said, and one-digit page numbers are not."""
    counts = memory_replay.replay(recording(3), 100_000)
    assert (counts.arguments, counts.visible, counts.requests) == (1, 1, 4)
    assert counts.tokens == counts.full


def test_under_a_budget_every_request_fits_and_ids_stay_in_sight() -> None:
    """Twelve long pages at 1,000 tokens: the first page's id is still there when it is used."""
    counts = memory_replay.replay(recording(12), 1_000)
    assert (counts.over, counts.illegal, counts.visible) == (0, 0, 1)
    assert counts.tokens < counts.full / 2


@pytest.mark.skipif(not FOLDER.exists(), reason="the recorded runs are not beside this repository")
@pytest.mark.parametrize("source", memory_replay.SOURCES)
@pytest.mark.parametrize("recorded_ids", [False, True])
def test_recorded_runs_stay_legal_and_within_the_budget(source: str, recorded_ids: bool) -> None:
    """Each request of a few runs of every source, with our call ids and with the recorded ones, some used twice."""
    counts = memory_replay.Replayed()
    for place, run in enumerate(memory_replay.recordings(FOLDER / f"{source}.jsonl", "all")):
        if place % 10 == 0:
            counts.add(memory_replay.replay(run, 3_000, recorded_ids=recorded_ids))
    assert (counts.over, counts.illegal) == (0, 0)
    assert counts.visible >= 0.97 * counts.arguments
