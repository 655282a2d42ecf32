"""policies/same_error.py: one tool that gives the same error whatever it is called with is noted."""

import pytest
from tests.graph.policy_views import Story, answered, failed, ran, rung, wants

from loopwright.policies.same_error import SameError


def test_three_equal_errors_are_noted() -> None:
    """On the call after the third, with the error and the steps; never more than a note, however often."""
    found = Story.of([failed("a")], [failed("b")], [failed("c")]).judge(SameError(), wants("d"))
    assert found is not None
    assert (found.rung, found.facts["error"], found.facts["steps"]) == ("note", "no such place", [1, 2, 3])
    assert rung(Story.of(*[[failed(str(n))] for n in range(20)]).judge(SameError(), wants("d"))) == "note"


@pytest.mark.parametrize(
    "story",
    [
        Story.of([failed("a")], [failed("b")]),
        Story.of([failed("a", "no a")], [failed("b", "no b")], [failed("c", "no c")]),
        Story.of([failed("a")], [ran("b")], [failed("c")]),
        Story.of(*[[failed(name, "busy", kind="transient")] for name in "abc"]),
        Story.of(*[[failed(name, "too slow", kind="timeout")] for name in "abc"]),
        Story.of([failed("a")], [failed("a")], [failed("a")]),
        Story.of(*[[answered("refused", name)] for name in "abc"]),
        Story.of(*[[failed(name, tool="other")] for name in "abc"]),
        Story.of(*[[failed(name)] for name in "abc"]).begin("2"),
    ],
    ids=["two", "different", "a success", "transient", "slow", "same call", "refused", "another tool", "new run"],
)
def test_what_must_not_trip(story: Story) -> None:
    """Fewer or other errors, a success, errors that say nothing of the arguments, what other policies are for."""
    assert rung(story.judge(SameError(), wants("d"))) == "run"
