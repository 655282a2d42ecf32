"""policies/repeated_failure.py: a call that failed is not made again unchanged."""

import pytest
from tests.graph.policy_views import Made, Story, answered, failed, ran, rung, wants

from loopwright.policies.repeated_failure import RepeatedFailure
from loopwright.state import FailureKind


@pytest.mark.parametrize("kind", ["permanent", "bad_arguments", "unknown_tool", "denied", "invalid_reply"])
def test_the_second_try_is_blocked(kind: FailureKind) -> None:
    """Whatever will fail again is blocked; the finding has the step and the error, and the tool stays on offer."""
    found = Story.of([failed(kind=kind)]).judge(RepeatedFailure(), wants())
    assert found is not None
    assert (found.rung, found.withhold) == ("block", False)
    assert (found.facts["step"], found.facts["error"]) == (1, "no such place")


@pytest.mark.parametrize("between", [failed("b"), answered("refused"), answered("not_run", "b")])
def test_nothing_that_brings_nothing_lifts_it(between: Made) -> None:
    """Another failure or a refusal in between changes nothing."""
    assert rung(Story.of([failed()], [between]).judge(RepeatedFailure(), wants())) == "block"


@pytest.mark.parametrize(
    "story",
    [
        Story.of([failed(kind="transient")]),
        Story.of([failed(kind="timeout")]),
        Story.of([failed()], [ran("b")]),
        Story.of([failed("b")]),
        Story.of([failed(tool="other")]),
        Story.of([failed()]).begin("2"),
    ],
    ids=["transient", "timeout", "the world changed", "other arguments", "another tool", "new run"],
)
def test_what_must_not_trip(story: Story) -> None:
    """A retry that may help, a success in between, another call, another message of the user."""
    assert rung(story.judge(RepeatedFailure(), wants())) == "run"


def test_a_repeatable_tool_may_fail_again() -> None:
    """A poll that is not ready yet is asked again."""
    assert rung(Story.of([failed()]).judge(RepeatedFailure(), wants(repeatable=True))) == "run"


def test_only_the_window_is_looked_at() -> None:
    """Behind 64 events of failures a failed call may be tried once more."""
    far = Story.of([failed()], *[[failed(f"b{n}")] for n in range(40)])
    assert rung(far.judge(RepeatedFailure(), wants())) == "run"
