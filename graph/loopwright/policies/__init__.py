"""The guard's policies: pure functions from what happened to a finding, one a file."""

from loopwright.policies.defaults import default_policies
from loopwright.policies.finding import CallRung, Finding, GuardView, PendingCall, Policy, severity, shown_call
from loopwright.policies.stops import advice, closing_instruction, render_report
from loopwright.policies.wording import budget_question, not_run, output_instruction, say, sure_to_fail

__all__ = [
    "CallRung",
    "Finding",
    "GuardView",
    "PendingCall",
    "Policy",
    "advice",
    "budget_question",
    "closing_instruction",
    "default_policies",
    "not_run",
    "output_instruction",
    "render_report",
    "say",
    "severity",
    "shown_call",
    "sure_to_fail",
]
