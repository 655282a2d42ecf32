"""Answers to what a run waits with: read from the options of `resume`, or asked for at the terminal."""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, get_args
from unicodedata import normalize

import typer

from loopwright.errors import BadDecision, UsageError
from loopwright.language import Language
from loopwright.pending import Pending
from loopwright_studio.call_line import is_cut, spelled_out
from loopwright_studio.terminal_wording import ENGLISH, TerminalWording
from loopwright_studio.visible import one_line, visible

Decision: TypeAlias = Mapping[str, Any]
ALL = "all"
"""What `--question` names for every open question."""
CHOICES = {"approval": "aeri", "budget": "aer", "unknown": "hns"}
"""The letters of the choices at the terminal for each kind of question."""
VIEW, QUIT = "v", "q"
"""Choices that answer nothing: the first shows the whole where something is cut, the second is always there."""
_MARKS: dict[Language, re.Pattern[str]] = {"en": re.compile(r"[\[\]]"), "zh": re.compile(r"\[\w\] ")}
"""What is no part of the word that a choice is named by."""


@dataclass(frozen=True)
class Answer:
    """The answer that the options of `resume` give; None and False stand for what was not given."""

    approve: bool = False
    reject: str | None = None
    edit: str | None = None
    answer: str | None = None
    question: str | None = None


def read_decisions(pending: Sequence[Pending], given: Answer, words: TerminalWording = ENGLISH) -> dict[str, Decision]:
    """The decisions by question id; empty when no option answers anything.

    A question is named by its id or by what it is about (a call's id), `all` names each; with one open it need not be
    named. Raises BadDecision where no open question is meant, UsageError for options that do not go together.
    """
    answers = [given.approve or None, given.reject, given.edit, given.answer]
    count = sum(answer is not None for answer in answers)
    if count > 1:
        raise UsageError(words.one_answer)
    if count == 0:
        if given.question is not None:
            raise UsageError(words.no_answer)
        return {}
    return {question.id: _decision(question, given, words) for question in _meant(pending, given.question, words)}


def _decision(question: Pending, given: Answer, words: TerminalWording) -> Decision:
    if given.approve:
        return {"type": "approve"}
    if given.edit is not None:
        return {"type": "edit", "args": {**question.call["args"], **read_arguments(given.edit, words)}}
    if given.answer is not None:
        return {"type": "respond", "message": given.answer}
    return {"type": "reject", "message": given.reject or ""}


def read_arguments(text: str, words: TerminalWording) -> dict[str, Any]:
    """Arguments written as a JSON object. Raises UsageError."""
    try:
        args = json.loads(text)
    except ValueError as error:
        raise UsageError(words.not_json.format(error=error)) from None
    if not isinstance(args, dict) or not args:
        raise UsageError(words.no_object)
    return args


def _meant(pending: Sequence[Pending], name: str | None, words: TerminalWording) -> Sequence[Pending]:
    if name == ALL and pending:
        return pending
    if name is None and len(pending) == 1:
        return pending
    found = [question for question in pending if name in (question.id, question.about)]
    if found:
        return found
    if not pending:
        raise BadDecision(words.nothing_open)
    tools = {question.id: words.in_brackets.format(text=one_line(question.call["name"])) for question in pending}
    known = words.and_next.join(f"{each}{tool}" for each, tool in tools.items())
    if name is None:
        raise BadDecision(words.several_open.format(count=len(pending), open=known))
    raise BadDecision(words.not_open.format(name=name, open=known))


def can_ask(*, as_json: bool) -> bool:
    """Whether somebody sits at the terminal who can be asked."""
    return sys.stdin.isatty() and not as_json


def ask(pending: Sequence[Pending], words: TerminalWording = ENGLISH) -> dict[str, Decision]:
    """Ask a person about every open question; those answered before quit, Ctrl-C or the end of input count."""
    decisions: dict[str, Decision] = {}
    try:
        for number, question in enumerate(pending, 1):
            if len(pending) > 1:
                typer.echo(words.question_number.format(number=number, count=len(pending)), err=True)
            decision = _ask(question, words)
            if decision is None:
                break
            decisions[question.id] = decision
    except typer.Abort:
        typer.echo(err=True)
    return decisions


def _ask(question: Pending, words: TerminalWording) -> Decision | None:
    typer.echo(visible(question.description), err=True)
    typer.echo(spelled_out(question.call, words=words), err=True)
    letters = CHOICES[question.kind] + (VIEW if is_cut(question.call) else "") + QUIT
    while (choice := _choose(letters, words)) == VIEW:
        typer.echo(spelled_out(question.call, sys.maxsize), err=True)
    return _chosen(question, choice, words)


def _choose(letters: str, words: TerminalWording) -> str:
    """The letter of a choice, typed as that or as its words in either language; anything else is asked again.

    It may be a slip. A Chinese keyboard may give letters of full width.
    """
    known = {_word(each, spoken): each for spoken in get_args(Language) for each in letters}
    question = "  ".join(words.named("choice", each) for each in letters)
    while True:
        typed = normalize("NFKC", _prompt(question, words)).strip().lower()
        choice = known.get(typed, typed)
        if choice in tuple(letters):
            return choice
        typer.echo(words.none_of_them.format(typed=one_line(typed)), err=True)


def _word(letter: str, spoken: Language) -> str:
    """A choice without its marks, and without what a comma divides from it."""
    label = TerminalWording(spoken).named("choice", letter)
    return _MARKS[spoken].sub("", normalize("NFKC", label).partition(",")[0])


def _prompt(question: str, words: TerminalWording, **options: Any) -> str:
    return str(typer.prompt(question, prompt_suffix=words.colon, err=True, **options))


def _chosen(question: Pending, choice: str, words: TerminalWording) -> Decision | None:
    if choice == "q":
        return None
    if choice in ("a", "h"):
        return {"type": "approve"}
    if choice == "e":
        return {"type": "edit", "args": {**question.call["args"], **_prompt_arguments(words)}}
    if choice == "i":
        return {"type": "respond", "message": _prompt(words.answer_instead, words)}
    if choice == "s":
        return {"type": "respond", "message": ""}
    if choice == "n":
        return {"type": "reject"}
    return {"type": "reject", "message": _prompt(words.why_not, words, default="", show_default=False)}


def _prompt_arguments(words: TerminalWording) -> dict[str, Any]:
    """Arguments typed as JSON; what cannot be read is said and asked for again."""
    while True:
        try:
            return read_arguments(_prompt(words.new_arguments, words), words)
        except UsageError as error:
            typer.echo(str(error), err=True)
