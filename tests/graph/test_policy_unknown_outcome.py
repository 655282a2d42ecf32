"""policies/unknown_outcome.py: what may have happened is not done again without a person."""

from tests.graph.policy_views import Story, answered, ran, rung, wants

from loopwright.policies.unknown_outcome import UnknownOutcome


def lost() -> Story:
    """A payment that was started and whose outcome nobody knows."""
    return Story.of([answered("unknown", "bob", tool="pay", effect="write")])


def test_it_is_asked_or_blocked() -> None:
    """Where someone can be asked, a person decides; else the call does not run."""
    found = lost().judge(UnknownOutcome(), wants("bob", tool="pay", effect="write"), can_ask=True)
    assert found is not None
    assert (found.rung, found.facts["step"]) == ("ask", 1)
    assert rung(lost().judge(UnknownOutcome(), wants("bob", tool="pay", effect="write"))) == "block"


def test_a_new_message_and_a_long_run_make_nothing_known() -> None:
    """It is looked for on the whole branch, earlier runs among them, also for repeatable and undeclared tools."""
    later = lost().then(*[[ran(str(n), str(n))] for n in range(40)]).begin("2")
    assert rung(later.judge(UnknownOutcome(), wants("bob", tool="pay", declared=False))) == "block"
    assert rung(later.judge(UnknownOutcome(), wants("bob", tool="pay", effect="write", repeatable=True))) == "block"


def test_other_arguments_and_a_later_success_run() -> None:
    """Another payee is another call, and what a person let run once more has an outcome."""
    assert rung(lost().judge(UnknownOutcome(), wants("eve", tool="pay", effect="write"))) == "run"
    done = lost().then([ran("bob", "paid", tool="pay", effect="write")])
    assert rung(done.judge(UnknownOutcome(), wants("bob", tool="pay", effect="write"))) == "run"
