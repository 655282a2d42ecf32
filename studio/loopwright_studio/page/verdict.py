"""The first screen: how the newest run stands, which step got stuck, why, and what to do now."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from loopwright.memory.language import language
from loopwright.pending import Pending
from loopwright.policies.limits import LIMITS
from loopwright.policies.stops import what_happened
from loopwright.report import CallReport, RunEntry, RunReport
from loopwright.shapes import StopReport
from loopwright_studio.command_lines import command
from loopwright_studio.page.figures import listed
from loopwright_studio.page.steps import anchor
from loopwright_studio.stop_card import larger, outcome_of

Standing: TypeAlias = Literal["done", "stopped", "failed", "waiting", "open"]


@dataclass(frozen=True)
class Way:
    """Something that a person can do: a sentence and a command line."""

    what: str
    command: str


@dataclass(frozen=True)
class Verdict:
    """What stands above everything else. `began` is the anchor and number of the round where it began."""

    standing: Standing
    kicker: str
    title: str
    why: str
    ways: tuple[Way, ...]
    at: tuple[str, int] | None = None
    began: tuple[str, int] | None = None
    call: CallReport | None = None
    outcome: str = ""
    """What the call gave when it really ran, else what was said instead."""
    error: str = ""
    advice: str = ""
    waiting: tuple[Pending, ...] = ()


def verdict_of(report: RunReport, storage: str | None) -> Verdict:
    """The verdict on the thread's newest run. `storage` is the option as it was given, for the command lines."""
    run = report.runs[-1]
    if report.waiting:
        return _waiting(report, run, storage)
    if run.stop is None:
        return _open(report.thread, run, storage)
    if run.stop["complete"]:
        more = Way("Ask more on the same thread", _run_again(report.thread, "TASK", storage))
        step = run.stop["step"]
        return Verdict(
            "done", f"Round {step} · {run.stop['reason']}", what_happened("answered", language(run.task)), "", (more,)
        )
    return _stopped(report.thread, run, run.stop, storage)


def _stopped(thread: str, run: RunEntry, stop: StopReport, storage: str | None) -> Verdict:
    call = next((c for turn in run.rounds for c in turn.calls if c.call_id == stop["call_id"]), None)
    reason = next(
        (d.reason for turn in reversed(run.rounds) for d in turn.decisions if d.policy == stop["policy"] and d.reason),
        "",
    )
    earlier = stop["earlier_steps"]
    outcome = outcome_of(run, call) if call else ""
    why = f"{reason[:1].upper()}{reason[1:].rstrip('.')}." if reason else ""
    if earlier:
        made = "Made before" if call else "So it was before"
        why += f" {made} in round{'s' if len(earlier) > 1 else ''} {listed(earlier)}."
    error = stop["last_error"] or ""
    return Verdict(
        standing="failed" if run.status == "failed" else "stopped",
        kicker=f"Round {stop['step']} · {stop['reason']} · {stop['policy']}",
        title=what_happened(stop["reason"], language(run.task)),
        why=why.strip(),
        ways=_ways(thread, stop, storage),
        at=(anchor(run, stop["step"]), stop["step"]),
        began=(anchor(run, earlier[0]), earlier[0]) if earlier else None,
        call=call,
        outcome=outcome,
        error="" if error.rstrip(".") in f"{outcome} {why}" else error,
        advice=stop["advice"],
    )


def _ways(thread: str, stop: StopReport, storage: str | None) -> tuple[Way, ...]:
    """At most three ways on from a stop."""
    look = Way("Read it in the terminal", command("show", thread, storage))
    back = Way("Find the checkpoint to fork from", command("history", thread, storage))
    if stop["reason"] in LIMITS:
        return (Way("Go on under a larger limit", command("resume", thread, storage, "--extend", larger(stop))), look)
    if stop["reason"] in ("auth", "model_error"):
        return (Way("Go on once it is repaired", command("resume", thread, storage)), look)
    again = Way("Say what to do differently, and go on", _run_again(thread, "WHAT TO DO DIFFERENTLY", storage))
    return (again, back) if stop["earlier_steps"] else (again, look)


def _run_again(thread: str, words: str, storage: str | None) -> str:
    return command("run", thread, storage, before=(words, "--thread"))


def _waiting(report: RunReport, run: RunEntry, storage: str | None) -> Verdict:
    step = run.rounds[-1].step if run.rounds else 0
    several = len(report.waiting) > 1
    return Verdict(
        standing="waiting",
        kicker=f"Round {step} · {listed_kinds(report.waiting)}",
        title="It waits for your answers." if several else "It waits for your answer.",
        why="",
        ways=tuple(way for each in report.waiting[:2] for way in _answers(each, several, storage))[:3],
        at=(anchor(run, step), step) if step else None,
        waiting=report.waiting,
    )


def listed_kinds(waiting: Sequence[Pending]) -> str:
    """What kinds of questions are open."""
    names = {"approval": "approval", "budget": "a limit was reached", "unknown": "outcome unknown"}
    return ", ".join(dict.fromkeys(names[each.kind] for each in waiting))


def _answers(question: Pending, several: bool, storage: str | None) -> list[Way]:
    named = ("--question", question.id) if several else ()
    yes, no = {
        "approval": ("Let it run", "Refuse it, and say why"),
        "budget": ("Let it go on", "Let it close with what it has"),
        "unknown": ("It did happen", "It did not happen"),
    }[question.kind]
    return [
        Way(yes, command("resume", question.thread, storage, "--approve", *named)),
        Way(no, command("resume", question.thread, storage, "--reject", "REASON", *named)),
    ]


def _open(thread: str, run: RunEntry, storage: str | None) -> Verdict:
    step = run.rounds[-1].step if run.rounds else 0
    return Verdict(
        standing="open",
        kicker=f"Round {step}",
        title="It runs, or was left in the middle.",
        why="Every finished step is kept. If its process has ended, the run can go on from here.",
        ways=(
            Way("Go on", command("resume", thread, storage)),
            Way("See whether it still moves", command("show", thread, storage)),
        ),
        at=(anchor(run, step), step) if step else None,
    )
