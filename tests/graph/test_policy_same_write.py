"""policies/same_write.py: a declared write is not done twice in one run without a person."""

import pytest
from tests.graph.policy_views import Story, answered, failed, ran, rung, wants

from loopwright.policies.same_write import SameWrite

PAID = Story.of([ran("bob", "paid", tool="pay", effect="write")])


def test_it_is_asked_or_blocked() -> None:
    """Where someone can be asked, a person decides; else the call does not run. The step of the first is named."""
    found = PAID.judge(SameWrite(), wants("bob", tool="pay", effect="write"), can_ask=True)
    assert found is not None
    assert (found.rung, found.facts["step"]) == ("ask", 1)
    assert rung(PAID.judge(SameWrite(), wants("bob", tool="pay", effect="write"))) == "block"


def test_it_is_remembered_over_the_whole_run() -> None:
    """Forty rounds later, far outside the window, it still counts as done."""
    story = Story.of([ran("bob", "paid", tool="pay", effect="write")], *[[ran(str(n), str(n))] for n in range(40)])
    assert rung(story.judge(SameWrite(), wants("bob", tool="pay", effect="write"))) == "block"


def test_done_on_another_branch_counts() -> None:
    """A write that was served from the journal was done."""
    served = Story.of([answered("served", "bob", tool="pay", effect="write")])
    assert rung(served.judge(SameWrite(), wants("bob", tool="pay", effect="write"))) == "block"


@pytest.mark.parametrize(
    "story",
    [
        Story.of([ran("eve", "paid", tool="pay", effect="write")]),
        Story.of([failed("bob", tool="pay")]),
        Story.of([answered("rejected", "bob", tool="pay", effect="write")]),
        Story.of([ran("bob", "paid", tool="pay", effect="write")]).begin("2"),
    ],
    ids=["other arguments", "failed", "rejected", "ordered again by the user"],
)
def test_what_must_not_trip(story: Story) -> None:
    """Another payee, a write that was not done, and a second order by the user."""
    assert rung(story.judge(SameWrite(), wants("bob", tool="pay", effect="write"))) == "run"


def test_only_declared_writes_that_may_not_be_repeated() -> None:
    """An undeclared tool may be a poll; idempotent and repeatable ones may be made again."""
    assert rung(PAID.judge(SameWrite(), wants("bob", tool="pay", declared=False))) == "run"
    assert rung(PAID.judge(SameWrite(), wants("bob", tool="pay", effect="idempotent"))) == "run"
    assert rung(PAID.judge(SameWrite(), wants("bob", tool="pay", effect="write", repeatable=True))) == "run"


def test_the_second_of_two_equal_writes_of_a_message_is_judged_behind_the_first() -> None:
    """While neither is done neither is a repeat: a write goes alone, and then the second is one."""
    same = [wants("bob", tool="pay", effect="write", id="first"), wants("bob", tool="pay", effect="write", id="second")]
    assert rung(Story.of().judge(SameWrite(), *same)) == "run"
    assert rung(PAID.judge(SameWrite(), same[1])) == "block"
