"""policies/error_rounds.py: five rounds of errors in a row close the run."""

import pytest
from tests.graph.policy_views import Story, answered, failed, ran, rung, wants

from loopwright.policies.error_rounds import ErrorRounds

ERRORS = [[failed(str(n), f"no {n}")] for n in range(5)]


def test_five_rounds_of_errors_close_the_run() -> None:
    """The reason is `errors`, with the steps and the last error."""
    found = Story.of(*ERRORS).judge_run(ErrorRounds())
    assert found is not None
    assert (found.rung, found.stop, found.call_id) == ("close", "errors", None)
    assert (found.facts["steps"], found.facts["error"]) == ([1, 2, 3, 4, 5], "no 4")


def test_a_batch_is_one_round() -> None:
    """Five calls of one message that fail are one round of errors; one that succeeds beside them makes it none."""
    batch = [failed(str(n)) for n in range(5)]
    assert rung(Story.of(batch).judge_run(ErrorRounds())) == "run"
    assert rung(Story.of(*[batch] * 5).judge_run(ErrorRounds())) == "close"
    assert rung(Story.of(*[[*batch, ran("b")]] * 5).judge_run(ErrorRounds())) == "run"


def test_a_refusal_is_no_error_and_no_result() -> None:
    """A round that only the guard refused neither counts nor starts the count anew."""
    story = Story.of(*ERRORS[:4], [answered("refused")])
    assert rung(story.judge_run(ErrorRounds())) == "run"
    assert rung(story.then(ERRORS[4]).judge_run(ErrorRounds())) == "close"


@pytest.mark.parametrize(
    "story",
    [
        Story.of(*ERRORS[:4]),
        Story.of(*ERRORS[:3], [ran()], *ERRORS[:4]),
        Story.of(*ERRORS[:3], [answered("served")], *ERRORS[:4]),
        Story.of(*ERRORS).begin("2"),
        Story.of(*ERRORS[:4]).replied("empty").then(ERRORS[4]),
    ],
    ids=["four", "a success", "a stored result", "new run", "an empty reply"],
)
def test_what_must_not_trip(story: Story) -> None:
    """Fewer rounds, something that came in between, an earlier run, a round without calls."""
    assert rung(story.judge_run(ErrorRounds())) == "run"


def test_it_judges_the_run_once_its_calls_are_answered() -> None:
    """Nothing is found about a single call, nor while calls wait."""
    assert rung(Story.of(*ERRORS).judge(ErrorRounds(), wants("b"))) == "run"
    assert ErrorRounds()(Story.of(*ERRORS).view(wants("b"))) is None
