"""Goes on with a thread: asks what is open, or takes the answers that were given as options."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import typer

from loopwright.errors import BadDecision, UsageError
from loopwright.results import Pending, RunResult, Usage
from loopwright_studio.rows import arguments
from loopwright_studio.running import Session
from loopwright_studio.visible import one_line, visible


def resume_thread(
    session: Session, thread: str, limits: dict[str, float] | None, approve: Sequence[str], reject: Sequence[str]
) -> None:
    """Resume until the run ends or a question stays open, and leave with the exit code."""
    report = session.agent.report(thread)
    pending = report.waiting
    decisions = read_decisions(pending, approve, reject)
    if pending and not decisions and not limits:
        decisions = _answers(session, pending)
    last = report.runs[-1].status if report.runs else "running"
    if last in ("completed", "stopped") and not limits:
        typer.echo(
            f"The last run of thread {visible(thread)} has ended ({last}): larger limits (--extend) or a new task "
            "(loopwright run --thread) go on from there.",
            err=True,
        )
    result = session.follow(session.agent.stream(thread=thread, extend=limits, decisions=decisions or None))
    while result.pending and _can_ask(session):
        answered = ask(result.pending)
        if not answered:
            break
        result = session.follow(session.agent.stream(thread=thread, decisions=answered))
    session.conclude(result)


def _can_ask(session: Session) -> bool:
    return sys.stdin.isatty() and not session.as_json


def _answers(session: Session, pending: Sequence[Pending]) -> dict[str, Mapping[str, Any]]:
    """What a person says to the open questions; leaves with exit code 4 where nobody can be asked or one stays open."""
    answered = ask(pending) if _can_ask(session) else {}
    if not answered:
        session.conclude(RunResult("", False, None, Usage(), pending[0].thread, "", tuple(pending), []))
    return answered


def ask(pending: Sequence[Pending]) -> dict[str, Mapping[str, Any]]:
    """Ask a person about every open question; empty when one is left open (quit, Ctrl-C, end of input)."""
    decisions: dict[str, Mapping[str, Any]] = {}
    try:
        for question in pending:
            decision = _ask(question)
            if decision is None:
                return {}
            decisions[question.id] = decision
    except typer.Abort:
        return {}
    return decisions


def _ask(question: Pending) -> Mapping[str, Any] | None:
    typer.echo(visible(question.description), err=True)
    typer.echo(f"  {one_line(question.call['name'])}({arguments(question.call['args'])})", err=True)
    choice = ""
    while choice not in ("a", "r", "q"):
        choice = typer.prompt("[a]pprove  [r]eject  [q]uit, it keeps waiting", err=True).strip().lower()[:1]
    if choice == "q":
        return None
    if choice == "a":
        return {"type": "approve"}
    reason = typer.prompt("Why? The model is told", default="", show_default=False, err=True)
    return {"type": "reject", "message": reason}


def read_decisions(
    pending: Sequence[Pending], approve: Sequence[str], reject: Sequence[str]
) -> dict[str, Mapping[str, Any]]:
    """Decisions by question id.

    A question is named by its id or by what it is about (a call's id); `all` approves each. Raises
    BadDecision for a name that no open question has, and UsageError for a rejection without `=`.
    """
    decisions: dict[str, Mapping[str, Any]] = {}
    for name in approve:
        for question in pending if name == "all" and pending else [_named(pending, name)]:
            decisions[question.id] = {"type": "approve"}
    for text in reject:
        name, equals, reason = text.partition("=")
        if not equals:
            raise UsageError(f"--reject cannot be read at {text!r}: write ID=REASON.")
        decisions[_named(pending, name).id] = {"type": "reject", "message": reason}
    return decisions


def _named(pending: Sequence[Pending], name: str) -> Pending:
    for question in pending:
        if name in (question.id, question.about):
            return question
    known = ", ".join(f"{question.id} ({question.call['name']})" for question in pending) or "none"
    raise BadDecision(f"No question {name!r} is open on this thread (open: {known}).")
