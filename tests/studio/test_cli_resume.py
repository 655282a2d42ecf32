"""`loopwright resume`: after a crash, under larger limits, with answers to what is open."""

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from loopwright.errors import BadDecision, UsageError
from loopwright.pending import Pending
from loopwright.testing import ModelEndpoint
from loopwright_studio.call_line import LONG, is_cut, spelled_out
from loopwright_studio.deciding import Answer, ask, read_decisions
from loopwright_studio.options import read_limits, with_reason
from loopwright_studio.visible import one_line

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
    assert "loopwright resume t --approve" in result.stderr
    last = json.loads(invoke("resume", "t", "--json").stdout.splitlines()[-1])
    assert (last["kind"], last["exit_code"], last["pending"][0]["kind"]) == ("result", 4, "budget")
    assert "paused" in invoke("threads", "list").stdout


@pytest.mark.parametrize("how", ["alone", "all", "id", "about", "edit", "extend"])
def test_approving_a_budget_goes_on(invoke: Callable[..., Result], how: str) -> None:
    """The one question need not be named; by `all`, its id or what it is about it can be; also under other limits."""
    invoke(*TASK, **ASK)
    asked = json.loads(invoke("show", "t", "--json").stdout)["waiting"][0]
    words = {
        "alone": ["--approve"],
        "all": ["--approve", "--question", "all"],
        "id": ["--approve", "--question", asked["id"]],
        "about": ["--approve", "--question", asked["about"]],
        "edit": ["--edit", '{"model_calls": 9}'],
        "extend": ["--extend", "model_calls=9"],
    }[how]
    result = invoke("resume", "t", *words, "-q", **ASK)
    assert (result.exit_code, result.stdout) == (0, "2*3 = 6\n")


@pytest.mark.parametrize("reason", [["too dear"], []])
def test_rejecting_a_budget_closes_the_run(invoke: Callable[..., Result], reason: list[str]) -> None:
    """`--reject`, with a reason or without, ends the run by its limit: exit code 3, with what was found."""
    invoke(*TASK, **ASK)
    result = invoke("resume", "t", "--reject", *reason, "-q", **ASK)
    assert result.exit_code == 3
    assert "2*3 = 6" in result.stdout


@pytest.mark.parametrize(
    ("words", "shown", "result"),
    [
        (["--approve"], "12", "6*2 = 12"),
        (["--edit", '{"expression": "6*7"}'], "(edited)", "42"),
        (["--answer", "6*2 = 13"], "served", "13"),
        (["--reject", "not today"], "not today", ""),
    ],
)
def test_an_approval_is_answered_by_options(
    invoke: Callable[..., Result], words: list[str], shown: str, result: str
) -> None:
    """Approve, edit, answer in its stead, reject with a reason: each reaches the call, and `show` tells it."""
    approve = {"LOOPWRIGHT_TOOLS__APPROVE": '["calculator"]'}
    assert invoke("run", "what is 6*2", "--thread", "t", "-q", **approve).exit_code == 4
    ended = invoke("resume", "t", *words, "-q", **approve)
    assert ended.exit_code in (0, 3)
    assert result in ended.stdout
    assert shown in invoke("show", "t").stdout


def test_a_bad_edit_keeps_the_question_open(invoke: Callable[..., Result]) -> None:
    """What does not fit the tool is told with everything that is wrong; what is no JSON object is a usage error."""
    approve = {"LOOPWRIGHT_TOOLS__APPROVE": '["calculator"]'}
    invoke("run", "what is 6*2", "--thread", "t", "-q", **approve)
    result = invoke("resume", "t", "--edit", '{"formula": 1}', "-q", **approve)
    assert result.exit_code == 4
    assert "no argument 'formula'" in result.stderr
    for text in ("{", "[1]", "{}"):
        refused = invoke("resume", "t", "--edit", text, "-q", **approve)
        assert refused.exit_code == 2
        assert "JSON" in refused.stderr
    assert invoke("resume", "t", "--approve", "-q", **approve).exit_code == 0


def test_an_answer_to_no_question_is_refused(invoke: Callable[..., Result]) -> None:
    """An id that is not open is refused with those that are."""
    invoke(*TASK, **ASK)
    result = invoke("resume", "t", "--approve", "--question", "nope")
    assert result.exit_code == 2
    assert "No question 'nope' is open" in result.stderr
    assert "extend_budget" in result.stderr


def test_decisions_are_read_by_id_or_by_call() -> None:
    """A question is named by its id or its call, `all` names each; an edit keeps what it does not name."""
    pending = [question("q1", "call1"), question("q2", "call2")]
    yes = {"type": "approve"}
    assert read_decisions(pending, Answer(approve=True, question="all")) == {"q1": yes, "q2": yes}
    assert read_decisions(pending, Answer(approve=True, question="call1")) == {"q1": yes}
    assert read_decisions(pending, Answer(reject="a=b", question="q2")) == {"q2": {"type": "reject", "message": "a=b"}}
    assert read_decisions(pending[:1], Answer(edit='{"amount": 5}')) == {
        "q1": {"type": "edit", "args": {"to": "bob", "amount": 5}}
    }
    assert read_decisions(pending[:1], Answer(answer="")) == {"q1": {"type": "respond", "message": ""}}
    assert read_decisions(pending, Answer()) == {}


@pytest.mark.parametrize(
    ("given", "error", "sentence"),
    [
        (Answer(approve=True), BadDecision, r"2 questions are open.*q1 \(pay\), q2 \(pay\)"),
        (Answer(approve=True, question="q3"), BadDecision, r"No question 'q3'.*q1 \(pay\)"),
        (Answer(approve=True, reject=""), UsageError, "Give one of"),
        (Answer(question="q1"), UsageError, "names what is answered"),
    ],
)
def test_answers_that_fit_nothing_are_refused(given: Answer, error: type[Exception], sentence: str) -> None:
    """Several questions and none named, an unknown name, two answers at once, a name without an answer."""
    with pytest.raises(error, match=sentence):
        read_decisions([question("q1", "call1"), question("q2", "call2")], given)
    with pytest.raises(BadDecision, match="Nothing is open"):
        read_decisions([], Answer(approve=True))


def test_a_rejection_needs_no_reason() -> None:
    """`--reject` may be the last word or stand before another option; a reason that follows is its own."""
    assert with_reason(["t", "--reject"]) == ["t", "--reject", ""]
    assert with_reason(["t", "--reject", "-q"]) == ["t", "--reject", "", "-q"]
    assert with_reason(["t", "--reject", "no", "-q"]) == ["t", "--reject", "no", "-q"]
    assert with_reason([]) == []


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
    """The offline rules go on with a thread that a language model ran only where they are named; not so a new one."""
    key = {"OPENAI_API_KEY": "sk-hidden"}
    with ModelEndpoint(["hello"]) as endpoint:
        invoke("run", "hi", "--thread", "t", "--model", "openai:any", "--base-url", endpoint.base_url, **key)
    result = invoke("resume", "t", **key)
    assert result.exit_code == 2
    assert "name one with --model" in result.stderr
    assert invoke("run", "and now?", "--thread", "t", **key).exit_code == 2
    assert invoke("resume", "t", "--model", "offline:demo").exit_code == 0
    assert invoke("run", "1+1", "--thread", "new", "-q", **key).exit_code == 0


def asked(question: Pending, typed: str) -> tuple[dict[str, Any], str]:
    """What a person who types this has decided, and what was shown."""
    with CliRunner().isolation(input=typed) as streams:
        decisions = ask([question])
        return {each: dict(decision) for each, decision in decisions.items()}, streams[1].getvalue().decode()


@pytest.mark.parametrize("slip", ["abort", "answer", "yes", "x"])
def test_a_slip_approves_nothing(slip: str) -> None:
    """A choice is its letter or its words; any other word is asked about again, whatever it begins with."""
    decisions, shown = asked(question("q1", "c"), f"{slip}\nr\nno\n")
    assert decisions == {"q1": {"type": "reject", "message": "no"}}
    assert f"{slip!r} is none of them" in shown
    assert asked(question("q1", "c"), "Approve\n")[0] == {"q1": {"type": "approve"}}


def test_nothing_is_approved_unseen() -> None:
    """Of a long argument is said that it is cut, and `v` shows the whole; a short call takes one line."""
    body = "第一行\n" + "x" * 2_000 + " the end"
    long = replace(question("q1", "c"), call={"name": "send", "args": {"to": "bob", "body": body}})
    decisions, shown = asked(long, "v\na\n")
    assert decisions == {"q1": {"type": "approve"}}
    head, whole = shown.split("[v]iew", 1)
    assert f"({len(body):,} characters in all)" in head
    assert "    to: bob\n    body: 第一行\n      xx" in head
    assert "the end" not in head
    assert "x the end" in whole
    assert "[v]iew" not in asked(question("q1", "c"), "q\n")[1]
    assert spelled_out({"name": "pay", "args": {"to": "bob"}}) == "  pay(to=bob)"


@given(st.dictionaries(st.text(), st.text() | st.integers() | st.lists(st.text())))
def test_no_argument_is_missing(args: dict[str, Any]) -> None:
    """Of a call that is spelled out each name is there, and of each value the head."""
    shown = spelled_out({"name": "t", "args": args}, sys.maxsize)
    assert all(one_line(name) in shown for name in args)
    assert is_cut({"name": "t", "args": {"a": "x" * (LONG + 1)}})
