"""policies/limits.py: what a run may use, and what is never stopped by it."""

import pytest
from tests.graph.policy_views import Story, failed, ran, rung, wants

from loopwright import Settings
from loopwright.errors import UsageError
from loopwright.policies.limits import LIMITS, Limit, RecursionLimit, ToolLimit, check_extension, used
from loopwright.settings import ToolSettings
from loopwright.state import StopReason

AT_LIMIT: dict[StopReason, tuple[Settings, str]] = {
    "model_calls": (Settings(max_model_calls=2), "model_calls: 2 of 2"),
    "tool_calls": (Settings(max_tool_calls=2), "tool_calls: 2 of 2"),
    "tokens": (Settings(max_tokens=22), "tokens: 22 of 22"),
    "cost": (Settings(max_cost_usd=0.5), "cost: 0.5 of 0.5"),
    "seconds": (Settings(max_seconds=3), "seconds: 3 of 3"),
}


def used_up(limit: StopReason, on_limit: str = "close") -> Story:
    """Two rounds that use up exactly what the limit allows."""
    settings, _ = AT_LIMIT[limit]
    story = Story.of([ran("a")], [ran("b")], settings=settings.model_copy(update={"on_limit": on_limit}))
    story.run = {**story.run, "cost_usd": 0.5, "working_seconds": 3.0}
    return story


@pytest.mark.parametrize("limit", AT_LIMIT)
def test_each_limit_closes_under_its_own_reason(limit: StopReason) -> None:
    """What is used up stops the run, and the reason says how much it was; the other limits say nothing."""
    found = used_up(limit).judge_run(Limit(limit))
    assert found is not None
    assert (found.rung, found.stop, found.reason) == ("close", limit, AT_LIMIT[limit][1])
    assert [rung(used_up(limit).judge_run(Limit(other))) for other in AT_LIMIT if other != limit] == ["run"] * 4


@pytest.mark.parametrize("limit", AT_LIMIT)
def test_a_person_is_asked_where_that_is_wanted_and_possible(limit: StopReason) -> None:
    """`on_limit="ask"` asks with a checkpointer, and closes without one."""
    assert rung(used_up(limit, "ask").judge_run(Limit(limit), can_ask=True)) == "ask"
    assert rung(used_up(limit, "ask").judge_run(Limit(limit))) == "close"
    assert rung(used_up(limit).judge_run(Limit(limit), can_ask=True)) == "close"


def test_calls_that_were_asked_for_may_run_at_the_last_model_call() -> None:
    """The limit of model calls waits for the pending calls; all others stop before them."""
    for limit in AT_LIMIT:
        found = Limit(limit)(used_up(limit).view(wants("c")))
        assert rung(found) == ("run" if limit == "model_calls" else "close")


def test_the_limits_have_the_names_of_their_reasons() -> None:
    """What can be extended is what a run can be stopped by."""
    assert tuple(AT_LIMIT) == LIMITS


def test_nothing_is_stopped_before_its_limit() -> None:
    """One less than the bound, a limit that is not set, and a new run of the thread go on."""
    settings = Settings(max_model_calls=3, max_tool_calls=3, max_tokens=23)
    story = Story.of([ran("a")], [ran("b")], settings=settings)
    assert [rung(story.judge_run(Limit(limit))) for limit in AT_LIMIT] == ["run"] * 5
    assert rung(used_up("model_calls").begin("2").judge_run(Limit("model_calls"))) == "run"


def test_a_call_that_never_ran_is_not_counted() -> None:
    """Only what was started counts as a tool call: not a call that could not be read, nor one of no tool."""
    story = Story.of([failed("a", kind="unknown_tool")], [failed("b", kind="invalid_reply")], [failed("c")])
    assert used(story.run, "tool_calls") == 1


def test_one_tool_has_its_own_limit() -> None:
    """A tool that ran as often as it may is blocked and withheld; others, and one without a bound, run on."""
    settings = Settings(tools=ToolSettings(max_calls={"look": 2}))
    story = Story.of([ran("a"), ran("b")], settings=settings)
    found = story.judge(ToolLimit(), wants("c"))
    assert found is not None
    assert (found.rung, found.withhold, found.facts["bound"]) == ("block", True, 2)
    assert rung(story.judge(ToolLimit(), wants("c", tool="other"))) == "run"
    assert rung(Story.of([ran("a")], settings=settings).judge(ToolLimit(), wants("c"))) == "run"
    assert rung(story.judge_run(ToolLimit())) == "run"


@pytest.mark.parametrize(("remaining", "expected"), [(5, "close"), (6, "close"), (7, "run"), (10_000, "run")])
def test_the_recursion_limit_leaves_room_for_an_answer(remaining: int, expected: str) -> None:
    """At six remaining steps or fewer the run closes, also when calls wait, and asks nobody."""
    found = Story.of().judge_run(RecursionLimit(), remaining_steps=remaining, can_ask=True)
    assert rung(found) == expected
    assert found is None or found.stop == "steps"


def test_an_extension_has_to_be_larger_than_what_is_used() -> None:
    """An unknown limit and one that is used up are refused in one sentence; a larger one is taken."""
    run = used_up("model_calls").run
    check_extension(run, {"model_calls": 3})
    with pytest.raises(UsageError, match="already used up"):
        check_extension(run, {"model_calls": 2})
    with pytest.raises(UsageError, match="no limit called 'patience'"):
        check_extension(run, {"patience": 2})
