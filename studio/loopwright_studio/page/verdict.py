"""The first screen: how the newest run stands, which step got stuck, why, and what to do now."""

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from loopwright.pending import Pending
from loopwright.policies.stops import what_happened
from loopwright.report import CallReport, RunEntry, RunReport
from loopwright.shapes import StopReport
from loopwright_studio.after_stop import outcome_of
from loopwright_studio.log_wording import told
from loopwright_studio.page.figures import listed
from loopwright_studio.page.steps import anchor
from loopwright_studio.page.ways import Way, Ways
from loopwright_studio.page.wording import Wording

Standing: TypeAlias = Literal["done", "stopped", "failed", "waiting", "running", "left"]


class Link(NamedTuple):
    """A way to a round of the page."""

    anchor: str
    text: str


@dataclass(frozen=True)
class Verdict:
    """What stands above everything else. `at` leads to where the run stands, `began` to where that began."""

    standing: Standing
    kicker: str
    title: str
    ways: tuple[Way, ...]
    why: str = ""
    at: Link | None = None
    began: Link | None = None
    calls: tuple[CallReport, ...] = ()
    """The call that was stuck, or those that have no outcome yet."""
    outcome: str = ""
    """What the call gave when it really ran, else what was said instead."""
    call_failed: bool = False
    """Whether that was no result: an error, a refusal."""
    error: str = ""
    advice: str = ""
    waiting: tuple[Pending, ...] = ()


def verdict_of(report: RunReport, ways: Ways, words: Wording) -> Verdict:
    """The verdict on the thread's newest run."""
    run = report.runs[-1]
    if report.waiting:
        return _waiting(run, report.waiting, ways, words)
    if run.stop is None:
        return _open(run, report.holder, ways, words)
    if run.stop["complete"]:
        return Verdict(
            "done",
            f"{words.round_number.format(step=run.stop['step'])} · {run.stop['reason']}",
            what_happened("answered", words.language),
            ways.after_answer(),
        )
    return _stopped(run, run.stop, ways, words)


def _stopped(run: RunEntry, stop: StopReport, ways: Ways, words: Wording) -> Verdict:
    call = next((c for turn in run.rounds for c in turn.calls if c.call_id == stop["call_id"]), None)
    outcome = outcome_of(run, call) if call else ""
    why = _why(run, stop, words)
    error = told(stop["last_error"] or "", words.language)
    began = stop["earlier_steps"][0] if stop["earlier_steps"] else None
    return Verdict(
        standing="failed" if run.status == "failed" else "stopped",
        kicker=f"{words.round_number.format(step=stop['step'])} · {stop['reason']} · {stop['policy']}",
        title=what_happened(stop["reason"], words.language),
        why=why,
        ways=ways.after_stop(stop),
        at=_link(run, stop["step"], words.where_it_ended),
        began=None if began is None else _link(run, began, words.where_it_began),
        calls=(call,) if call else (),
        outcome=outcome,
        call_failed=not _succeeded(run, outcome),
        error="" if error.rstrip(".。") in f"{outcome} {why}" else error,
        advice=stop["advice"],
    )


def _succeeded(run: RunEntry, outcome: str) -> bool:
    """Whether this is what a call gave that ran well."""
    return any(call.result == outcome and call.status == "ok" for turn in run.rounds for call in turn.calls)


def _why(run: RunEntry, stop: StopReport, words: Wording) -> str:
    """The guard's reason as a sentence, and the rounds before in which it was the same."""
    decisions = (each for turn in reversed(run.rounds) for each in turn.decisions)
    reason = told(next((d.reason for d in decisions if d.policy == stop["policy"] and d.reason), ""), words.language)
    plain = reason.isascii() and "_" not in reason.partition(" ")[0]  # a name of the machine stays one
    first = f"{reason[:1].upper()}{reason[1:]}" if plain else reason
    why = f"{first.rstrip('.。')}{'. ' if reason.isascii() else '。'}" if reason else ""
    earlier = stop["earlier_steps"]
    if earlier:
        once, often = (
            (words.made_before, words.made_before_often)
            if stop["call_id"]
            else (words.so_before, words.so_before_often)
        )
        why += (often if len(earlier) > 1 else once).format(rounds=listed(earlier, words.language))
    return why.strip()


def _waiting(run: RunEntry, waiting: tuple[Pending, ...], ways: Ways, words: Wording) -> Verdict:
    kinds = {"approval": words.approval, "budget": words.budget_reached, "unknown": words.outcome_unknown}
    asked = words.comma.join(dict.fromkeys(kinds[each.kind] for each in waiting))
    step = _step(run)
    return Verdict(
        standing="waiting",
        kicker=f"{words.round_number.format(step=step)} · {asked}",
        title=words.it_waits_for_several if len(waiting) > 1 else words.it_waits,
        ways=ways.answers(waiting),
        at=_link(run, step, words.where_it_waits) if step else None,
        waiting=waiting,
    )


def _open(run: RunEntry, holder: str | None, ways: Ways, words: Wording) -> Verdict:
    step = _step(run)
    held = told(holder or "", words.language)
    return Verdict(
        standing="running" if holder else "left",
        kicker=words.round_number.format(step=step),
        title=words.it_runs if holder else words.it_was_left,
        why=words.held_by.format(holder=held) if holder else words.left_why,
        ways=ways.of_running() if holder else ways.of_left(),
        at=_link(run, step, words.where_it_stands) if step else None,
        calls=tuple(call for turn in run.rounds for call in turn.calls if call.status == "open"),
        outcome=words.status_open,
    )


def _step(run: RunEntry) -> int:
    """The newest round that the model was asked in: one that was only decided on stands nowhere in the page."""
    return next((turn.step for turn in reversed(run.rounds) if turn.model is not None), 0)


def _link(run: RunEntry, step: int, text: str) -> Link:
    return Link(anchor(run, step), text.format(step=step))
