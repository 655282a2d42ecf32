"""Answers to what a run waits with: read from the options of `resume`, or asked for at the terminal."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import typer

from loopwright.errors import BadDecision, UsageError
from loopwright.pending import Pending
from loopwright_studio.call_line import is_cut, spelled_out
from loopwright_studio.visible import one_line, visible

Decision: TypeAlias = Mapping[str, Any]
ALL = "all"
"""What `--question` names for every open question."""
APPROVAL = {"a": "[a]pprove", "e": "[e]dit", "r": "[r]eject", "i": "answer [i]nstead"}
BUDGET = {"a": "[a]pprove", "e": "[e]dit", "r": "[r]eject"}
UNKNOWN = {"h": "it [h]appened", "n": "it did [n]ot", "s": "[s]kip, nobody knows"}
"""The choices at the terminal for each kind of question."""
VIEW, QUIT = {"v": "[v]iew"}, {"q": "[q]uit, keeps waiting"}
"""Choices that answer nothing: the first shows the whole where something is cut, the second is always there."""


@dataclass(frozen=True)
class Answer:
    """The answer that the options of `resume` give; None and False stand for what was not given."""

    approve: bool = False
    reject: str | None = None
    edit: str | None = None
    answer: str | None = None
    question: str | None = None


def read_decisions(pending: Sequence[Pending], given: Answer) -> dict[str, Decision]:
    """The decisions by question id; empty when no option answers anything.

    A question is named by its id or by what it is about (a call's id), `all` names each; with one open it need not be
    named. Raises BadDecision where no open question is meant, UsageError for options that do not go together.
    """
    answers = [given.approve or None, given.reject, given.edit, given.answer]
    count = sum(answer is not None for answer in answers)
    if count > 1:
        raise UsageError("Give one of --approve, --reject, --edit and --answer: they are different answers.")
    if count == 0:
        if given.question is not None:
            raise UsageError("--question names what is answered: add --approve, --reject, --edit or --answer.")
        return {}
    return {question.id: _decision(question, given) for question in _meant(pending, given.question)}


def _decision(question: Pending, given: Answer) -> Decision:
    if given.approve:
        return {"type": "approve"}
    if given.edit is not None:
        return {"type": "edit", "args": {**question.call["args"], **read_arguments(given.edit)}}
    if given.answer is not None:
        return {"type": "respond", "message": given.answer}
    return {"type": "reject", "message": given.reject or ""}


def read_arguments(text: str) -> dict[str, Any]:
    """Arguments written as a JSON object. Raises UsageError."""
    try:
        args = json.loads(text)
    except ValueError as error:
        raise UsageError(f'The arguments are not valid JSON ({error}): write an object, as {{"name": 1}}.') from None
    if not isinstance(args, dict) or not args:
        raise UsageError('The arguments are no JSON object with a name in it: write them as {"name": 1}.')
    return args


def _meant(pending: Sequence[Pending], name: str | None) -> Sequence[Pending]:
    if name == ALL and pending:
        return pending
    if name is None and len(pending) == 1:
        return pending
    found = [question for question in pending if name in (question.id, question.about)]
    if found:
        return found
    known = ", ".join(f"{question.id} ({one_line(question.call['name'])})" for question in pending)
    if name is None and pending:
        raise BadDecision(f"{len(pending)} questions are open: name one with --question ID, or all (open: {known}).")
    if not pending:
        raise BadDecision("Nothing is open on this thread: there is no question to answer.")
    raise BadDecision(f"No question {name!r} is open on this thread (open: {known}).")


def can_ask(*, as_json: bool) -> bool:
    """Whether somebody sits at the terminal who can be asked."""
    return sys.stdin.isatty() and not as_json


def ask(pending: Sequence[Pending]) -> dict[str, Decision]:
    """Ask a person about every open question; those answered before quit, Ctrl-C or the end of input count."""
    decisions: dict[str, Decision] = {}
    try:
        for number, question in enumerate(pending, 1):
            if len(pending) > 1:
                typer.echo(f"Question {number} of {len(pending)}", err=True)
            decision = _ask(question)
            if decision is None:
                break
            decisions[question.id] = decision
    except typer.Abort:
        typer.echo(err=True)
    return decisions


def _ask(question: Pending) -> Decision | None:
    typer.echo(visible(question.description), err=True)
    typer.echo(spelled_out(question.call), err=True)
    choices = {"approval": APPROVAL, "budget": BUDGET, "unknown": UNKNOWN}[question.kind]
    view = VIEW if is_cut(question.call) else {}
    while (choice := _choose({**choices, **view, **QUIT})) in VIEW:
        typer.echo(spelled_out(question.call, sys.maxsize), err=True)
    return _chosen(question, choice)


def _choose(choices: Mapping[str, str]) -> str:
    """The letter of a choice, typed as that or as its words; anything else is asked again, since it may be a slip."""
    words = {label.partition(",")[0].replace("[", "").replace("]", ""): letter for letter, label in choices.items()}
    while True:
        typed = str(typer.prompt("  ".join(choices.values()), err=True)).strip().lower()
        choice = words.get(typed, typed)
        if choice in choices:
            return choice
        typer.echo(f"{one_line(typed)!r} is none of them: type the letter in brackets.", err=True)


def _chosen(question: Pending, choice: str) -> Decision | None:
    if choice == "q":
        return None
    if choice in ("a", "h"):
        return {"type": "approve"}
    if choice == "e":
        return {"type": "edit", "args": {**question.call["args"], **_prompt_arguments()}}
    if choice == "i":
        return {"type": "respond", "message": typer.prompt("The answer the model gets", err=True)}
    if choice == "s":
        return {"type": "respond", "message": ""}
    if choice == "n":
        return {"type": "reject"}
    reason = typer.prompt("Why? The model is told", default="", show_default=False, err=True)
    return {"type": "reject", "message": reason}


def _prompt_arguments() -> dict[str, Any]:
    """Arguments typed as JSON; what cannot be read is said and asked for again."""
    while True:
        text = typer.prompt('New arguments as JSON, as {"name": 1}; those not named stay', err=True)
        try:
            return read_arguments(text)
        except UsageError as error:
            typer.echo(str(error), err=True)
