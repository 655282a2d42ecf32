"""policies/identical_result.py: the third identical call with the same result is blocked, and nothing else."""

import pytest
from tests.graph.policy_views import Story, answered, failed, ran, rung, wants

from loopwright.policies import PendingCall
from loopwright.policies.identical_result import IdenticalResult


def test_the_third_identical_pair_is_blocked_and_the_tool_withheld() -> None:
    """After two equal results the third call does not run; the finding names the call and both steps."""
    found = Story.of([ran()], [ran("b", "other")], [ran()]).judge(IdenticalResult(), wants())
    assert found is not None
    assert (found.rung, found.withhold, found.call_id) == ("block", True, "wanted")
    assert found.facts["call"] == 'look(at="a")'
    assert (found.facts["times"], found.facts["steps"]) == (2, [1, 3])


@pytest.mark.parametrize(
    "story",
    [
        Story.of([ran()]),
        Story.of([ran("a", "10 %")], [ran("a", "20 %")], [ran("a", "30 %")]),
        Story.of([ran("a", "same")], [ran("a", "other")]),
        Story.of([failed()], [failed()]),
        Story.of([answered("refused")], [answered("served")], [answered("not_run")]),
        Story.of([ran()], [ran()]).begin("2"),
    ],
    ids=["once", "polling", "changed", "errors", "not made", "another message of the user"],
)
def test_what_must_not_trip(story: Story) -> None:
    """One result, results that change, errors, calls that did not run, and an earlier run of the thread."""
    assert rung(story.judge(IdenticalResult(), wants())) == "run"


def test_other_arguments_and_repeatable_tools_are_left_alone() -> None:
    """Paging, reading twenty files with the same content, and a clock run on."""
    files = Story.of(*[[ran(str(page))] for page in range(20)])
    assert rung(files.judge(IdenticalResult(), wants("20"))) == "run"
    assert rung(Story.of([ran()] * 3).judge(IdenticalResult(), wants(repeatable=True))) == "run"


def test_equal_calls_of_one_message_count_one_after_the_other() -> None:
    """Two equal calls of one message run; a third waits for them, and so does a second where one was made before."""
    same: list[PendingCall] = [wants(id="first"), wants(id="second"), wants(id="third")]
    assert [rung(Story.of().judge(IdenticalResult(), *same[: n + 1])) for n in range(3)] == ["run", "run", "block"]
    once = Story.of([ran()])
    assert [rung(once.judge(IdenticalResult(), *same[: n + 1])) for n in range(2)] == ["run", "block"]


def test_the_threshold_is_a_field() -> None:
    """`allowed` results are allowed."""
    assert rung(Story.of([ran()]).judge(IdenticalResult(allowed=1), wants())) == "block"
    assert rung(Story.of([ran()], [ran()]).judge(IdenticalResult(allowed=3), wants())) == "run"
