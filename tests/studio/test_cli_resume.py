"""`loopwright resume`: after a crash, under larger limits, with answers to what is open."""

import json
from collections.abc import Callable

import pytest
from typer.testing import Result

from loopwright.errors import BadDecision, UsageError
from loopwright.results import Pending
from loopwright.testing import ModelEndpoint
from loopwright_studio.options import read_limits
from loopwright_studio.resuming import read_decisions

TASK = ("run", "what is 2*3", "--max-model-calls", "1", "--thread", "t", "-q")
ASK = {"LOOPWRIGHT_ON_LIMIT": "ask"}


def question(name: str, about: str) -> Pending:
    """An open question about a call."""
    return Pending(name, "t", about, "approval", "pay asks for approval.", {"name": "pay", "args": {"to": "bob"}})


def test_larger_limits_go_on_with_the_same_run(invoke: Callable[..., Result]) -> None:
    """--extend names new limits; the run that was stopped answers now, and shows what it went on under."""
    assert invoke(*TASK).exit_code == 3
    result = invoke("resume", "t", "--extend", "model_calls=9, tokens=90000")
    assert (result.exit_code, result.stdout) == (0, "2*3 = 6\n")
    assert "begin under new limits: model_calls=9, tokens=90000" in result.stderr
    assert "begin under new limits: model_calls=9, tokens=90000" in invoke("show", "t").stdout


@pytest.mark.parametrize(
    ("limits", "sentence"),
    [("model_calls", "write NAME=NUMBER"), ("wishes=3", "no limit called 'wishes'"), ("model_calls=1", "used up")],
)
def test_bad_limits_are_refused(invoke: Callable[..., Result], limits: str, sentence: str) -> None:
    """A limit that cannot be read, does not exist or is used up gets one sentence and exit code 2."""
    invoke(*TASK)
    result = invoke("resume", "t", "--extend", limits, LOOPWRIGHT_MODEL="offline:demo")
    assert (result.exit_code, result.stdout) == (2, "")
    assert sentence in result.stderr
    assert len(result.stderr.splitlines()) <= 2


def test_an_open_question_is_printed_where_nobody_can_be_asked(invoke: Callable[..., Result]) -> None:
    """Without a terminal `resume` changes nothing: it names the question and the commands; also as JSON."""
    assert invoke(*TASK, **ASK).exit_code == 4
    result = invoke("resume", "t")
    assert result.exit_code == 4
    assert "Waiting for you (budget)" in result.stderr
    last = json.loads(invoke("resume", "t", "--json").stdout.splitlines()[-1])
    assert (last["kind"], last["exit_code"], last["pending"][0]["kind"]) == ("result", 4, "budget")
    assert last["pending"][0]["id"] in result.stderr
    assert "paused" in invoke("threads", "list").stdout


@pytest.mark.parametrize("how", ["all", "id"])
def test_approving_a_budget_goes_on(invoke: Callable[..., Result], how: str) -> None:
    """`--approve all` and `--approve ID` answer the question; the run goes on to its answer."""
    invoke(*TASK, **ASK)
    waiting = json.loads(invoke("show", "t", "--json").stdout)["waiting"]
    result = invoke("resume", "t", "--approve", waiting[0]["id"] if how == "id" else "all", "-q", **ASK)
    assert (result.exit_code, result.stdout) == (0, "2*3 = 6\n")


def test_rejecting_a_budget_closes_the_run(invoke: Callable[..., Result]) -> None:
    """`--reject ID=REASON` ends the run by its limit: exit code 3, with what was found."""
    invoke(*TASK, **ASK)
    about = json.loads(invoke("show", "t", "--json").stdout)["waiting"][0]["about"]
    result = invoke("resume", "t", "--reject", f"{about}=too dear", "-q", **ASK)
    assert result.exit_code == 3
    assert "2*3 = 6" in result.stdout


def test_an_answer_to_no_question_is_refused(invoke: Callable[..., Result]) -> None:
    """An id that is not open is refused with those that are."""
    invoke(*TASK, **ASK)
    result = invoke("resume", "t", "--approve", "nope")
    assert result.exit_code == 2
    assert "No question 'nope' is open" in result.stderr
    assert "extend_budget" in result.stderr


def test_decisions_are_read_by_id_or_by_call() -> None:
    """`all` approves each; a question is named by its id or its call; a reason may hold `=`; the rest is refused."""
    pending = [question("q1", "call1"), question("q2", "call2")]
    assert read_decisions(pending, ["all"], []) == {"q1": {"type": "approve"}, "q2": {"type": "approve"}}
    assert read_decisions(pending, ["call1"], ["q2=a=b"]) == {
        "q1": {"type": "approve"},
        "q2": {"type": "reject", "message": "a=b"},
    }
    with pytest.raises(BadDecision, match=r"q1 \(pay\), q2 \(pay\)"):
        read_decisions(pending, ["q3"], [])
    with pytest.raises(UsageError, match="ID=REASON"):
        read_decisions(pending, [], ["q1"])
    with pytest.raises(BadDecision, match="open: none"):
        read_decisions([], ["all"], [])


def test_limits_are_read_as_numbers() -> None:
    """White space is allowed, nothing given is None."""
    assert read_limits(" model_calls=70 , cost=0.5") == {"model_calls": 70.0, "cost": 0.5}
    assert read_limits(None) is None


def test_a_finished_thread_has_nothing_to_do(invoke: Callable[..., Result]) -> None:
    """Resuming what has ended says so, gives the same answer again and makes no step."""
    invoke("run", "what is 2*3", "--thread", "t", "-q")
    result = invoke("resume", "t")
    assert (result.exit_code, result.stdout) == (0, "2*3 = 6\n")
    assert "has ended (completed)" in result.stderr
    assert "call_model" not in result.stderr


def test_rules_do_not_take_over_from_a_language_model(invoke: Callable[..., Result]) -> None:
    """A thread that a language model ran is not gone on with by the offline rules unless they are named."""
    key = {"OPENAI_API_KEY": "sk-hidden"}
    with ModelEndpoint(["hello"]) as endpoint:
        invoke("run", "hi", "--thread", "t", "--model", "openai:any", "--base-url", endpoint.base_url, **key)
    result = invoke("resume", "t", **key)
    assert result.exit_code == 2
    assert "name one with --model" in result.stderr
    assert invoke("resume", "t", "--model", "offline:demo").exit_code == 0
