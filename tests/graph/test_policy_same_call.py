"""policies/same_call.py: the n-th identical call is refused or ends the run, in a row or anywhere in it."""

import pytest
from tests.graph.policy_views import Made, Story, answered, failed, ran, rung, wants

from loopwright import Settings, default_policies
from loopwright.policies.same_call import SameCall
from loopwright.settings import GuardSettings


def test_the_second_in_a_row_is_refused() -> None:
    """After one call the same one is blocked, with the call and its step."""
    found = Story.of([ran()]).judge(SameCall(2), wants())
    assert found is not None
    assert (found.rung, found.stop, found.call_id) == ("block", None, "wanted")
    assert (found.facts["times"], found.facts["steps"]) == (2, [1])


def test_it_may_end_the_run() -> None:
    """With `ends` the same call closes it as a repeat."""
    found = Story.of([ran()]).judge(SameCall(2, ends=True), wants())
    assert found is not None
    assert (found.rung, found.stop) == ("close", "repeat")


@pytest.mark.parametrize("before", [ran(), failed(), answered("refused")], ids=["done", "failed", "refused"])
def test_it_counts_whatever_came_of_the_call(before: Made) -> None:
    """Results, errors and refusals all count: the model made the call."""
    assert rung(Story.of([before]).judge(SameCall(2), wants())) == "block"


def test_a_row_ends_at_another_call_and_a_run_does_not() -> None:
    """A-B-A is no row, but the third A of a run is the third, whatever lies between (A-B-A-B is seen)."""
    story = Story.of([ran("a")], [ran("b")], [ran("a")], [ran("b")])
    assert rung(story.judge(SameCall(2), wants("a"))) == "run"
    assert rung(story.judge(SameCall(3, "run", ends=True), wants("a"))) == "close"
    assert rung(story.judge(SameCall(4, "run", ends=True), wants("a"))) == "run"


def test_equal_calls_of_one_message_count_one_after_the_other() -> None:
    """The first of two equal calls is fine, the second is the second."""
    story = Story.of().replied()
    first, second = wants(id="one"), wants(id="two")
    assert rung(story.judge(SameCall(2), first)) == "run"
    assert rung(story.judge(SameCall(2), first, second)) == "block"
    assert rung(story.judge(SameCall(2, "run"), first, second)) == "block"


@pytest.mark.parametrize("policy", [SameCall(2, "row"), SameCall(2, "run")], ids=["row", "run"])
def test_what_must_not_trip(policy: SameCall) -> None:
    """A repeatable tool, a call that never ran, other arguments, an earlier run of the thread."""
    assert rung(Story.of([ran()]).judge(policy, wants(repeatable=True))) == "run"
    assert rung(Story.of([answered("not_run")]).judge(policy, wants())) == "run"
    assert rung(Story.of([ran("b")]).judge(policy, wants("a"))) == "run"
    assert rung(Story.of([ran()]).begin("2").judge(policy, wants())) == "run"


def test_it_is_there_when_a_setting_asks_for_it() -> None:
    """The default policies are without it; `guard.same_call` puts it among them with its fields."""
    assert "same_call" not in [policy.name for policy in default_policies(Settings())]
    guard = GuardSettings(same_call=3, same_call_in="run", same_call_ends=True)
    assert SameCall(3, "run", True) in default_policies(Settings(guard=guard))
