"""policies/unusable_replies.py: an unusable reply is nudged, the third in a row closes the run."""

import pytest
from tests.graph.policy_views import Story, ran, rung, wants

from loopwright.policies.unusable_replies import UnusableReplies


@pytest.mark.parametrize(
    ("text", "stop"),
    [
        ("empty", "empty_reply"),
        ("cut off at the reply's token limit", "length"),
        ("no call could be read", "invalid_replies"),
    ],
)
def test_each_kind_is_nudged_and_then_closed(text: str, stop: str) -> None:
    """Two are nudged; the third ends the run under the reason of its kind, with its step."""
    story = Story.of()
    assert [rung(story.replied(text).judge_run(UnusableReplies())) for _ in range(3)] == ["note", "note", "close"]
    found = story.judge_run(UnusableReplies())
    assert found is not None
    assert (found.stop, found.facts["step"], found.facts["times"]) == (stop, 3, 3)


def test_a_usable_reply_begins_anew() -> None:
    """Two empty ones, a call, two empty ones: still a nudge. A reply with a call is none."""
    story = Story.of().replied("empty").replied("empty").then([ran()])
    assert rung(story.judge_run(UnusableReplies())) == "run"
    assert rung(story.replied("empty").replied("empty").judge_run(UnusableReplies())) == "note"


def test_an_earlier_run_does_not_count() -> None:
    """The user's next message starts at none."""
    story = Story.of().replied("empty").replied("empty").begin("2")
    assert rung(story.replied("empty").judge_run(UnusableReplies())) == "note"


def test_it_judges_the_run_alone_and_the_bound_is_a_field() -> None:
    """Nothing is found about a call; `limit` replies close."""
    story = Story.of().replied("empty")
    assert rung(story.judge(UnusableReplies(), wants())) == "run"
    assert rung(story.judge_run(UnusableReplies(limit=1))) == "close"
