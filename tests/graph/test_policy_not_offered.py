"""policies/not_offered.py: a refused call, made again while its tool is withheld, is blocked, and nothing else."""

from tests.graph.policy_views import Story, answered, ran, rung, wants

from loopwright.policies.not_offered import NotOffered


def without(story: Story, *tools: str) -> Story:
    """The story, its last request made without these tools."""
    newest = next(event for event in reversed(story.events) if event["kind"] == "model")
    newest["withheld"] = list(tools)
    return story


def test_the_call_for_which_the_tool_was_withheld_is_blocked() -> None:
    """The finding names the call, the tool and the step of the request; the tool is not withheld once more."""
    found = without(Story.of([answered("refused")], [ran("b")]), "look").judge(NotOffered(), wants())
    assert found is not None
    assert (found.rung, found.withhold, found.call_id) == ("block", False, "wanted")
    assert (found.facts["call"], found.facts["step"]) == ('look(at="a")', 2)


def test_what_must_not_trip() -> None:
    """A tool that was on offer, another tool than the withheld one, another call of it, and the round after."""
    refused = [answered("refused")]
    assert rung(Story.of(refused).judge(NotOffered(), wants())) == "run"
    assert rung(without(Story.of(refused), "pay").judge(NotOffered(), wants())) == "run"
    assert rung(without(Story.of(refused), "look").judge(NotOffered(), wants("another"))) == "run"
    assert rung(without(Story.of(refused), "look").then([ran("b")]).judge(NotOffered(), wants())) == "run"
    assert rung(without(Story.of(refused), "look").judge_run(NotOffered())) == "run"
