"""policies/refused_rounds.py: four refused rounds in a row without news close the run."""

import pytest
from tests.graph.policy_views import Story, answered, failed, ran, rung, wants

from loopwright.policies.refused_rounds import RefusedRounds

REFUSED = [answered("refused")]


def test_four_refused_rounds_close_the_run() -> None:
    """The reason is `no_progress`, with the steps; serving a stored result is a refusal too."""
    found = Story.of([ran()], *[REFUSED] * 3, [answered("served")]).judge_run(RefusedRounds())
    assert found is not None
    assert (found.rung, found.stop, found.facts["steps"]) == ("close", "no_progress", [2, 3, 4, 5])


def test_old_results_and_errors_beside_refusals_are_no_news() -> None:
    """A result seen before changes nothing, and neither does a round of errors in between."""
    known = [answered("refused"), ran()]
    assert rung(Story.of([ran()], *[known] * 4).judge_run(RefusedRounds())) == "close"
    assert rung(Story.of(REFUSED, [failed()], REFUSED, REFUSED, REFUSED).judge_run(RefusedRounds())) == "close"


@pytest.mark.parametrize(
    "story",
    [
        Story.of([ran()], *[REFUSED] * 3),
        Story.of(*[REFUSED] * 3, [ran("b", "news")], *[REFUSED] * 3),
        Story.of(*[[answered("refused"), ran(str(n), f"news {n}")] for n in range(9)]),
        Story.of(*[[failed(str(n))] for n in range(4)]),
        Story.of(*[[answered("rejected")]] * 4),
        Story.of(*[REFUSED] * 4).begin("2"),
        Story.of(*[REFUSED] * 3).replied("empty").then(REFUSED),
    ],
    ids=["three", "news in between", "news beside", "errors", "a person's no", "new run", "an empty reply"],
)
def test_what_must_not_trip(story: Story) -> None:
    """Fewer rounds, news, errors alone (another policy's), what a person rejected, an earlier run."""
    assert rung(story.judge_run(RefusedRounds())) == "run"


def test_something_done_is_news_although_it_says_the_same() -> None:
    """Saving another note beside a refused read is progress; saving the same one again is none."""
    other = [[answered("refused"), ran(f"note {n}", "saved", tool="save", effect="write")] for n in range(5)]
    same = [[answered("refused"), ran("note", "saved", tool="save", effect="write")]] * 5
    assert rung(Story.of(*other).judge_run(RefusedRounds())) == "run"
    assert rung(Story.of(*same).judge_run(RefusedRounds())) == "close"


def test_it_judges_the_run_once_its_calls_are_answered() -> None:
    """Nothing is found about a single call, nor while calls wait."""
    story = Story.of(*[REFUSED] * 4)
    assert rung(story.judge(RefusedRounds(), wants("b"))) == "run"
    assert RefusedRounds()(story.view(wants("b"))) is None
