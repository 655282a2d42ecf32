"""policies/insistence.py: the fifth identical call that brought nothing new closes the run."""

import pytest
from tests.graph.policy_views import Story, answered, failed, ran, rung, wants

from loopwright.policies.insistence import Insistence

STUCK = Story.of([ran()], [ran()], [answered("refused")], [answered("refused")])


def test_the_fifth_identical_call_closes_the_run() -> None:
    """Two results and two refusals later the run ends as `repeat`, with the call and its steps."""
    found = STUCK.judge(Insistence(), wants())
    assert found is not None
    assert (found.rung, found.stop, found.call_id) == ("close", "repeat", "wanted")
    assert (found.facts["times"], found.facts["steps"]) == (5, [1, 2, 3, 4])


def test_the_same_error_counts_like_the_same_result() -> None:
    """Four equal errors, whatever lies in between, and the fifth call closes."""
    story = Story.of(*[turn for n in range(4) for turn in ([failed()], [ran(f"between {n}", str(n))])])
    assert rung(story.judge(Insistence(), wants())) == "close"


@pytest.mark.parametrize(
    "story",
    [
        Story.of([ran()], [ran()], [answered("refused")]),
        Story.of(*[[ran("a", f"{n}0 %")] for n in range(9)]),
        Story.of(*[[failed("a", f"line {n} does not compile")] for n in range(9)]),
        Story.of([ran("a", "old")], [ran("a", "old")], [ran()], [ran()], [ran()]),
        Story.of([answered("not_run")] * 9),
        Story.of(*[[ran(str(n))] for n in range(20)]),
        Story.of([ran()] * 4).begin("2"),
    ],
    ids=["the fourth", "polling", "errors that change", "a change in between", "never run", "twenty files", "new run"],
)
def test_what_must_not_trip(story: Story) -> None:
    """Fewer calls, results or errors that differ, calls that never ran, other arguments, an earlier run."""
    assert rung(story.judge(Insistence(), wants())) == "run"


def test_repeatable_tools_and_the_threshold() -> None:
    """A repeatable tool may insist; the bound is a field."""
    assert rung(STUCK.judge(Insistence(), wants(repeatable=True))) == "run"
    assert rung(STUCK.judge(Insistence(limit=6), wants())) == "run"
