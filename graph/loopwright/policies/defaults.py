"""The default policies: a plain tuple to reorder, cut or extend."""

from loopwright.policies.cycle import Cycle
from loopwright.policies.error_rounds import ErrorRounds
from loopwright.policies.finding import Policy
from loopwright.policies.identical_result import IdenticalResult
from loopwright.policies.insistence import Insistence
from loopwright.policies.limits import Limit, RecursionLimit, ToolLimit
from loopwright.policies.no_news import NoNews
from loopwright.policies.refused_rounds import RefusedRounds
from loopwright.policies.repeated_failure import RepeatedFailure
from loopwright.policies.same_error import SameError
from loopwright.policies.same_write import SameWrite
from loopwright.policies.served import ServedPure
from loopwright.policies.unknown_outcome import UnknownOutcome
from loopwright.policies.untrusted_arguments import UntrustedArguments
from loopwright.policies.unusable_replies import UnusableReplies
from loopwright.settings import Settings


def default_policies(settings: Settings) -> tuple[Policy, ...]:
    """The policies an agent has when it is given none; of equally severe findings the first one wins."""
    return (
        RecursionLimit(),
        Limit("model_calls"),
        Limit("tool_calls"),
        Limit("tokens"),
        Limit("cost"),
        Limit("seconds"),
        UnusableReplies(),
        ErrorRounds(),
        RefusedRounds(),
        Insistence(),
        Cycle(),
        UnknownOutcome(),
        SameWrite(),
        UntrustedArguments(),
        RepeatedFailure(),
        IdenticalResult(),
        *((ToolLimit(),) if settings.tools.max_calls else ()),
        ServedPure(),
        SameError(),
        NoNews(),
    )
