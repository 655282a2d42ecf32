"""Tools as the machine sees them: their policies, signatures, waves, and how an outcome becomes a message."""

from loopwright.tooling.outcomes import Outcome, failure_of, outcome_of, result_message
from loopwright.tooling.policy import ToolPolicy, effect_of, policy_of, tool_policy
from loopwright.tooling.signatures import digest, signature
from loopwright.tooling.toolbox import Toolbox

__all__ = [
    "Outcome",
    "ToolPolicy",
    "Toolbox",
    "digest",
    "effect_of",
    "failure_of",
    "outcome_of",
    "policy_of",
    "result_message",
    "signature",
    "tool_policy",
]
