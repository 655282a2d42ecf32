"""nodes/stop_report.py: at a limit a call is named only if the run was stuck, and an old error is not the last word."""

from typing import Any, cast

import pytest
from tests.graph.policy_views import Made, Story, answered, failed, ran

from loopwright.nodes.stop_report import stop_report
from loopwright.nodes.wiring import verdict
from loopwright.state import State, StopReason, StopReport


def report(story: Story, reason: StopReason, **decided: Any) -> StopReport:
    """The report of a run that ends so, without a closing call."""
    ended = verdict("finish", stop=reason, policy="limit", **decided)
    state = {"run": story.run, "events": story.events, "messages": [], "verdict": ended}
    return stop_report(cast("State", state), "en")


WORKING = [[ran(str(n), f"saw {n}")] for n in range(5)]


@pytest.mark.parametrize(
    "story",
    [
        Story.of(*WORKING),
        Story.of(*WORKING, [failed("x")]),
        Story.of([failed("x")], [failed("y")], *WORKING),
        Story.of(*WORKING, [ran("x", "new"), answered("refused", "y")]),
        Story.of(),
    ],
    ids=["it worked", "one error", "errors long ago", "news beside a refusal", "no call at all"],
)
@pytest.mark.parametrize("reason", ["model_calls", "tokens", "cost", "seconds", "steps"])
def test_at_a_limit_no_call_is_named_while_the_run_worked(story: Story, reason: StopReason) -> None:
    """The last call is not the stuck one just because it was the last."""
    made = report(story, reason)
    assert (made["call_id"], made["earlier_steps"]) == (None, [])
    assert made["step"] == story.run["model_calls"]


@pytest.mark.parametrize(
    ("rut", "earlier"),
    [
        ([[failed("x")], [failed("y")]], [6]),
        ([[answered("refused", "x")], [answered("refused", "x")]], [6]),
        ([[ran("0", "saw 0")], [ran("0", "saw 0")]], [1, 6]),
    ],
    ids=["errors", "refusals", "the same results"],
)
def test_at_a_limit_a_stuck_call_is_named(rut: list[list[Made]], earlier: list[int]) -> None:
    """Two rounds in a row without news are a rut: its last call is named, with the steps before it."""
    story = Story.of(*WORKING, *rut)
    made = report(story, "model_calls")
    calls = [event for event in story.events if event["kind"] == "call"]
    assert (made["call_id"], made["earlier_steps"]) == (calls[-1]["call_id"], earlier)


def test_an_error_that_was_overcome_is_not_the_last_word() -> None:
    """Something that succeeded at a later step ends it; in the same step it does not."""
    assert report(Story.of([failed("x")], [ran()]), "model_calls")["last_error"] is None
    assert report(Story.of([ran()], [failed("x", "gone"), ran("b")]), "model_calls")["last_error"] == "gone"
    assert report(Story.of([ran()], [ran("b"), failed("x", "gone")]), "model_calls")["last_error"] == "gone"


def test_the_call_that_a_policy_names_is_taken() -> None:
    """Whatever else failed, the finding's own call is the stuck one."""
    story = Story.of([ran("x")], [ran("x")], [answered("not_run", "x"), failed("y")])
    named = [event["call_id"] for event in story.events if event["kind"] == "call"][2]
    made = report(story, "repeat", call_id=named)
    assert (made["call_id"], made["earlier_steps"]) == (named, [1, 2])


def test_the_models_own_failures_blame_no_call() -> None:
    """A refused key or a full context is not the last call's fault."""
    rut = Story.of([failed("x")], [failed("x")])
    reasons: list[StopReason] = ["auth", "model_error", "context", "refusal", "content_filter"]
    assert [report(rut, reason)["call_id"] for reason in reasons] == [None] * 5


def test_only_the_newest_earlier_steps_are_named() -> None:
    """At most eight, so that a report stays a few lines."""
    story = Story.of(*[[answered("refused", "x")]] * 30)
    assert report(story, "no_progress")["earlier_steps"] == list(range(22, 30))


def test_cost_is_there_only_where_it_is_known() -> None:
    """None is not zero."""
    story = Story.of([ran()])
    assert "cost" not in report(story, "model_calls")["counters"]
    story.run = {**story.run, "cost_usd": 0.25}
    assert report(story, "model_calls")["counters"]["cost"] == 0.25
