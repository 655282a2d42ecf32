"""The guard's policies: pure functions from what happened to a finding, one a file."""

from loopwright.policies.defaults import default_policies
from loopwright.policies.finding import CallRung, Finding, GuardView, PendingCall, Policy, severity
from loopwright.policies.wording import Language, closing_instruction, render_report, say

__all__ = [
    "CallRung",
    "Finding",
    "GuardView",
    "Language",
    "PendingCall",
    "Policy",
    "closing_instruction",
    "default_policies",
    "render_report",
    "say",
    "severity",
]
