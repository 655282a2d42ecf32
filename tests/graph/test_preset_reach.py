"""benchmarks/preset_reach.py: what a preset's own numbers can reach, counted in a small world."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from loopwright import Settings
from loopwright.settings import ToolSettings

ROOT = Path(__file__).parents[2]
WORLD = """
FILLER = "filler line\\n" * 200
FILES = {"a.txt": "zebra = 4\\n" + FILLER, "b.txt": FILLER + "zebra = 5\\n" + FILLER}
TASKS = [
    {"id": "T0", "text": "(a) find it", "clauses": [("a", "find the value of zebra in file a.txt")]},
    {"id": "T1", "text": "(a) (b)", "clauses": [("a", "compute 1+1"), ("b", "compute 2+2"), ("", "only 2023")]},
    {"id": "T2", "text": "(a) (b)", "clauses": [("a", "compute 1+1"), ("b", "compute (a)*2")]},
    {"id": "T3", "text": "find zebra", "clauses": [("a", "find the value of zebra in file b.txt")]},
    {"id": "T4", "text": "find it", "clauses": [("a", "find the value of zebra in file b.txt")]},
]
"""


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """The benchmark as a module."""
    spec = importlib.util.spec_from_file_location("preset_reach", ROOT / "benchmarks" / "preset_reach.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def world(script: ModuleType, tmp_path: Path) -> ModuleType:
    """A world of two files and a few tasks."""
    (tmp_path / "world.py").write_text(WORLD)
    loaded: ModuleType = script.load_world(tmp_path / "world.py")
    return loaded


def calls(script: ModuleType, world: ModuleType, settings: Settings) -> list[int]:
    """The fewest model calls of each task."""
    reach = script.Reach(world, settings)
    return [reach.calls(task) for task in world.TASKS]


def test_calls_that_wait_for_each_other_take_turns(script: ModuleType, world: ModuleType) -> None:
    """Two sums at once take one turn where calls go together, two where one goes at a time; then comes the answer."""
    assert calls(script, world, Settings())[:3] == [2, 2, 3]
    assert calls(script, world, Settings(tools=ToolSettings(calls_per_turn=1)))[:3] == [2, 3, 3]
    assert calls(script, world, Settings(protocol="json_flat"))[:3] == [2, 3, 3]


def test_a_clipped_value_takes_more_reads(script: ModuleType, world: ModuleType) -> None:
    """A line that shares a word with the task stays in sight; one that shares none is reached page by page."""
    small = Settings(tools=ToolSettings(max_result_characters=400))
    assert calls(script, world, small)[3] == 2
    assert calls(script, world, Settings(tools=ToolSettings(max_result_characters=200)))[4] > 20


def test_a_world_that_is_not_there_is_told(script: ModuleType, tmp_path: Path) -> None:
    """One sentence instead of a traceback."""
    with pytest.raises(SystemExit, match="There is no world"):
        script.load_world(tmp_path / "nothing.py")
