"""Runs and goes on with a thread, with answers that are given or asked for, until it ends or keeps waiting."""

from collections.abc import Mapping
from dataclasses import replace

from loopwright.results import RunResult, Usage
from loopwright.stream import RunStream
from loopwright_studio.deciding import Answer, ask, can_ask, read_decisions
from loopwright_studio.running import Session
from loopwright_studio.terminal_wording import spoken_of
from loopwright_studio.visible import visible


def resume_thread(
    session: Session,
    thread: str,
    limits: Mapping[str, float] | None = None,
    given: Answer | None = None,
    *,
    repeat_effects: bool = False,
) -> None:
    """Resume until the run ends or a question stays open, and leave with the exit code."""
    report = session.agent.report(thread)
    if report.runs:  # after a fork the newest may be an older one, or none yet
        session = replace(session, language=spoken_of(report))
    words = session.screen().words
    pending, left = report.waiting, False
    decisions = read_decisions(pending, given or Answer(), words)
    if pending and not decisions and not limits:
        decisions = ask(pending, words) if can_ask(as_json=session.as_json) else {}
        left = len(decisions) < len(pending)
        if not decisions:
            session.conclude(RunResult("", False, None, Usage(), thread, "", pending, []))
    last = report.runs[-1].status if report.runs else "running"
    if last in ("completed", "stopped") and not limits:
        session.screen().say(words.has_ended.format(thread=visible(thread), status=words.named("run", last)))
    stream = session.agent.stream(
        thread=thread,
        extend=limits,
        decisions=decisions or None,
        user=session.user,
        repeat_effects=repeat_effects,
    )
    run_asking(session, stream, left=left)


def run_asking(session: Session, stream: RunStream, *, left: bool = False) -> None:
    """Run, asking the person at the terminal whatever the run waits with, and leave with the exit code.

    A person who quits, or `left` before, is asked no more; what they had answered until then is carried out.
    """
    result = session.follow(stream)
    while result.pending and not left and can_ask(as_json=session.as_json):
        answered = ask(result.pending, session.screen().words)
        left = len(answered) < len(result.pending)
        if answered:
            stream = session.agent.stream(thread=stream.thread, decisions=answered, user=session.user)
            result = session.follow(stream, begins=False)
    session.conclude(result)
