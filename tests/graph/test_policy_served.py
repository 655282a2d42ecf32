"""policies/served.py: a pure call whose result is known is served from the store."""

from dataclasses import replace

import pytest
from tests.graph.policy_views import Story, answered, failed, ran, rung, wants

from loopwright.policies.served import ServedPure


def pure() -> Story:
    """A story in which the pure call was made once."""
    return Story.of([ran(effect="pure")])


def test_the_second_pure_call_is_served() -> None:
    """The finding names the call whose result is given, and its step."""
    found = pure().judge(ServedPure(), wants(effect="pure"))
    assert found is not None
    assert found.rung == "serve"
    assert found.facts["step"] == 1
    assert str(found.facts["served_from"]).startswith("call")


def test_a_result_of_an_earlier_run_is_served() -> None:
    """The same arguments give the same result, also after the user's next message."""
    assert rung(pure().begin("2").judge(ServedPure(), wants(effect="pure"))) == "serve"


def test_a_write_in_between_lifts_it() -> None:
    """Where something was written since, the call runs: it is as cheap to look again; a read changes nothing."""
    story = pure().then([ran("b", tool="save", effect="write")])
    assert rung(story.judge(ServedPure(), wants(effect="pure"))) == "run"
    assert rung(pure().then([ran("b")]).judge(ServedPure(), wants(effect="pure"))) == "serve"
    unsaved = pure().then([replace(failed("b"), tool="save", effect="write")])
    assert rung(unsaved.judge(ServedPure(), wants(effect="pure"))) == "serve"


@pytest.mark.parametrize("effect", ["read", "idempotent", "write"])
def test_only_pure_tools_are_served(effect: str) -> None:
    """What a read says may have changed, and a write is wanted for what it does."""
    story = Story.of([replace(ran(), effect=effect)])  # type: ignore[arg-type]
    call = replace(wants(), effect=effect)  # type: ignore[arg-type]
    assert rung(story.judge(ServedPure(), call)) == "run"


def test_undeclared_and_repeatable_tools_run() -> None:
    """Undeclared is not pure; repeatable means that it may be made again."""
    assert rung(pure().judge(ServedPure(), wants(declared=False))) == "run"
    assert rung(pure().judge(ServedPure(), wants(effect="pure", repeatable=True))) == "run"


def test_what_did_not_succeed_is_not_served() -> None:
    """A failed, refused or lost call has no result to give."""
    story = Story.of([failed()], [answered("refused")], [answered("unknown")])
    assert rung(story.judge(ServedPure(), wants(effect="pure"))) == "run"


def test_of_equal_calls_of_one_message_the_second_waits() -> None:
    """The first runs; the second is kept back until the first one's result is there."""
    same = [wants(effect="pure", id="first"), wants(effect="pure", id="second")]
    assert [rung(Story.of().judge(ServedPure(), *same[: n + 1])) for n in range(2)] == ["run", "serve"]
