"""policies/calls_per_turn.py: of a reply's calls only the first so many run."""

from tests.graph.policy_views import Story, ran, rung, wants

from loopwright import Settings, default_policies
from loopwright.policies.calls_per_turn import CallsPerTurn
from loopwright.settings import ToolSettings

FIRST, SECOND, THIRD = (wants(name, id=name) for name in "abc")


def test_the_calls_behind_the_first_are_blocked() -> None:
    """Of three calls one runs."""
    story = Story.of().replied()
    assert rung(story.judge(CallsPerTurn(1), FIRST)) == "run"
    assert rung(story.judge(CallsPerTurn(1), FIRST, SECOND)) == "block"
    assert rung(story.judge(CallsPerTurn(2), FIRST, SECOND)) == "run"
    assert rung(story.judge(CallsPerTurn(2), FIRST, SECOND, THIRD)) == "block"


def test_calls_of_the_turn_that_ran_already_count() -> None:
    """Once the first has run the second is still one too many; in the next turn it is the first."""
    story = Story.of([ran("a")])
    assert rung(story.judge(CallsPerTurn(1), SECOND)) == "block"
    assert rung(story.replied().judge(CallsPerTurn(1), SECOND)) == "run"


def test_it_is_there_when_a_setting_asks_for_it() -> None:
    """The default policies let calls run together."""
    assert "calls_per_turn" not in [policy.name for policy in default_policies(Settings())]
    assert CallsPerTurn(1) in default_policies(Settings(tools=ToolSettings(calls_per_turn=1)))
