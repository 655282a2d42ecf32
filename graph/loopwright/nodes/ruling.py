"""What the policies say about the pending calls and the run: pure, from a view to findings."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from loopwright.policies import Finding, GuardView, PendingCall, Policy, severity


@dataclass(frozen=True)
class Ruling:
    """The findings of one visit: the run's own, and one (or none) for each pending call in order."""

    run: Finding | None
    calls: list[tuple[PendingCall, Finding | None]]


def rule(policies: Sequence[Policy], view: GuardView) -> Ruling:
    """Ask every policy once about the run and once about each pending call; the most severe finding wins.

    A call closes the run only when no call of its round would run: news beside a stuck call keeps the run going.
    """
    about_run = _worst(policy(view) for policy in policies)
    if about_run is not None and severity(about_run) >= severity(Finding("close", "", "")):
        return Ruling(about_run, [])
    calls = [(call, _about(policies, replace(view, call=call))) for call in view.pending]
    closing = next((found for _, found in calls if found and found.rung == "close"), None)
    if closing is None:
        return Ruling(about_run, calls)
    if all(will_not_run(call, found) for call, found in calls):
        return Ruling(closing, [])
    return Ruling(about_run, [(call, _softened(found)) for call, found in calls])


def _about(policies: Sequence[Policy], view: GuardView) -> Finding | None:
    """The most severe finding about the view's call; one view for all, since it keeps what they work out."""
    return _worst(policy(view) for policy in policies)


def _worst(findings: Iterable[Finding | None]) -> Finding | None:
    worst: Finding | None = None
    for finding in findings:
        if finding is not None and (worst is None or severity(finding) > severity(worst)):
            worst = finding
    return worst


def will_not_run(call: PendingCall, found: Finding | None) -> bool:
    """Whether the guard answers this call itself: refused, served, unreadable, or of no tool."""
    return call.failure is not None or (found is not None and found.rung in ("serve", "block", "close"))


def _softened(found: Finding | None) -> Finding | None:
    return replace(found, rung="block") if found is not None and found.rung == "close" else found
