"""policies/cycle.py: the same few calls going round in a circle."""

import pytest
from tests.graph.policy_views import Made, Story, answered, failed, ran, rung, wants

from loopwright.policies.cycle import Cycle


def circling(periods: int, *names: str) -> Story:
    """These calls, one a round, so many times, each always with its own result."""
    return Story.of(*[[ran(name, f"saw {name}")] for _ in range(periods) for name in names])


@pytest.mark.parametrize("names", ["ab", "abc", "abcd"])
def test_a_cycle_is_noted_and_then_closed(names: str) -> None:
    """Periods of two to four calls: a note after three, the end after five, and the finding has tools and steps."""
    assert [rung(circling(n, *names).judge(Cycle(), wants("a"))) for n in range(1, 7)] == [
        "run", "run", "note", "note", "close", "close",
    ]  # fmt: skip
    found = circling(5, *names).judge(Cycle(), wants("a"))
    assert found is not None
    assert (found.stop, found.facts["period"], found.facts["times"]) == ("cycle", len(names), 5)
    assert found.facts["steps"] == [*range(1, 5 * len(names) + 1)]


def test_the_same_errors_go_round_too() -> None:
    """A circle of calls that fail in the same way is a circle."""
    story = Story.of(*[[made] for _ in range(3) for made in (failed("a", "no a"), failed("b", "no b"))])
    assert rung(story.judge(Cycle(), wants("a"))) == "note"


def results(*says: str) -> Story:
    """Two calls in turn, with these results."""
    return Story.of(*[[ran("ab"[n % 2], text)] for n, text in enumerate(says)])


@pytest.mark.parametrize(
    ("story", "at"),
    [
        (results(*map(str, range(10))), "a"),
        (circling(5, "a", "b"), "c"),
        (circling(5, "a", "b", "c", "d", "e"), "a"),
        (Story.of(*[[ran()]] * 10), "a"),
        (Story.of(*[[answered("refused", name)] for _ in range(5) for name in "ab"]), "a"),
        (circling(5, "a", "b").begin("2"), "a"),
    ],
    ids=["polling two things", "something else", "five calls", "one call", "our refusals", "new run"],
)
def test_what_must_not_trip(story: Story, at: str) -> None:
    """Results that change, a call outside the circle, a longer one, one call alone, refusals, an earlier run."""
    assert rung(story.judge(Cycle(), wants(at))) == "run"


def test_a_change_begins_anew() -> None:
    """A result that differs in the middle is news: only the periods behind it count."""
    turns: list[list[Made]] = [[ran(name, f"saw {name}")] for _ in range(6) for name in "ab"]
    turns[7] = [ran("b", "something new")]
    assert rung(Story.of(*turns).judge(Cycle(), wants("a"))) == "run"


def test_repeatable_tools_and_the_thresholds() -> None:
    """A repeatable call never trips it; note, close and longest are fields."""
    assert rung(circling(5, "a", "b").judge(Cycle(), wants("a", repeatable=True))) == "run"
    assert rung(circling(2, "a", "b").judge(Cycle(note=1, close=2), wants("a"))) == "close"
    assert rung(circling(5, *"abc").judge(Cycle(longest=2), wants("a"))) == "run"
