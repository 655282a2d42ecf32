"""The delta channels hold what ordinary channels would: the small form of benchmarks/delta_twin.py."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest
from langchain_core.messages import HumanMessage

SOURCE = Path(__file__).parents[2] / "benchmarks" / "delta_twin.py"


@pytest.fixture(scope="module")
def delta_twin() -> ModuleType:
    """The benchmark as a module."""
    spec = importlib.util.spec_from_file_location("delta_twin", SOURCE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["delta_twin"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.parametrize("asynchronous", [False, True])
def test_every_historical_state_is_that_of_the_full_twin(
    storage_url: str, asynchronous: bool, delta_twin: ModuleType
) -> None:
    """Thirty rounds with deaths, pauses, forks, edits, replaced and removed messages: no state differs."""
    states, found = delta_twin.compared(storage_url, 30, 7, asynchronous=asynchronous)
    assert found == []
    assert states > 200


def test_a_difference_is_noticed(delta_twin: ModuleType) -> None:
    """A state too few, another order, another text and another next node are each told; other times are not."""
    twin = delta_twin.Twin(delta_twin.delta_channels(7), delta_twin.place_of("memory:"), 5, asynchronous=False)
    twin.go({"messages": [HumanMessage("task", id="in-run")]}, "run")
    states = twin.history()
    head = states[-1]
    assert any(state.interrupts for state in states)  # the script does pause
    assert list(delta_twin.differences(states, states)) == []
    assert list(delta_twin.differences(states, states[:-1])) == [f"{len(states)} states against {len(states) - 1}"]
    messages, events = head.values["messages"], head.values["events"]
    edited = [messages[0].model_copy(update={"content": "other"}), *messages[1:]]
    later = [{**event, "at": 0.0} for event in events]
    for change, told in (
        ({"messages": messages[::-1]}, ["messages differs"]),
        ({"messages": edited}, ["messages differs"]),
        ({"events": events[1:]}, ["events differs"]),
        ({"events": later}, []),
    ):
        other = [*states[:-1], head._replace(values={**head.values, **change})]
        assert [text.split(": ")[1] for text in delta_twin.differences(states, other)] == told
    assert list(delta_twin.differences([head], [head._replace(next=("guard",))])) != []
