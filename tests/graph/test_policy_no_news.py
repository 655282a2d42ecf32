"""policies/no_news.py: one tool that says the same whatever it is called with is noted."""

import pytest
from tests.graph.policy_views import Story, failed, ran, rung, wants

from loopwright.policies.no_news import NoNews


def test_three_equal_results_are_noted() -> None:
    """On the call after the third, with the steps; never more than a note, however often."""
    found = Story.of([ran("a")], [ran("b")], [ran("c")]).judge(NoNews(), wants("d"))
    assert found is not None
    assert (found.rung, found.facts["times"], found.facts["steps"]) == ("note", 3, [1, 2, 3])
    assert rung(Story.of(*[[ran(str(n))] for n in range(20)]).judge(NoNews(), wants("d"))) == "note"


@pytest.mark.parametrize(
    "story",
    [
        Story.of([ran("a")], [ran("b")]),
        Story.of(*[[ran(f"file {n}", f"text {n}")] for n in range(20)]),
        Story.of(*[[ran("b", f"page {n}")] for n in range(20)]),
        Story.of([ran("a")], [ran("b")], [failed("c")]),
        Story.of([ran("a")], [ran("a")], [ran("a")]),
        Story.of(*[[ran(name, tool="other")] for name in "abc"]),
        Story.of(*[[ran(name)] for name in "abc"]).begin("2"),
    ],
    ids=["two", "twenty files", "polling", "an error", "same call", "another tool", "new run"],
)
def test_what_must_not_trip(story: Story) -> None:
    """Fewer results, results that differ, an error, what other policies are for."""
    assert rung(story.judge(NoNews(), wants("d"))) == "run"


def test_what_is_called_for_its_effect_may_say_ok_every_time() -> None:
    """Five letters are five letters; an undeclared tool is judged as a read, a repeatable one not at all."""
    sent = Story.of(*[[ran(name, "sent", effect="write")] for name in "abcde"])
    assert rung(sent.judge(NoNews(), wants("f", effect="write"))) == "run"
    assert rung(sent.judge(NoNews(), wants("f", effect="idempotent"))) == "run"
    assert rung(sent.judge(NoNews(), wants("f", declared=False))) == "note"
    assert rung(sent.judge(NoNews(), wants("f", repeatable=True))) == "run"
