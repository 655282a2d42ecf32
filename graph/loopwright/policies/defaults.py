"""The default policies: a plain tuple to reorder, cut or extend."""

from loopwright.policies.calls_per_turn import CallsPerTurn
from loopwright.policies.cycle import Cycle
from loopwright.policies.error_rounds import ErrorRounds
from loopwright.policies.finding import Policy
from loopwright.policies.identical_result import IdenticalResult
from loopwright.policies.insistence import Insistence
from loopwright.policies.limits import Limit, RecursionLimit, ToolLimit
from loopwright.policies.no_news import NoNews
from loopwright.policies.not_offered import NotOffered
from loopwright.policies.refused_rounds import RefusedRounds
from loopwright.policies.repeated_failure import RepeatedFailure
from loopwright.policies.same_call import SameCall
from loopwright.policies.same_error import SameError
from loopwright.policies.same_write import SameWrite
from loopwright.policies.served import ServedPure
from loopwright.policies.unknown_outcome import UnknownOutcome
from loopwright.policies.untrusted_arguments import UntrustedArguments
from loopwright.policies.unusable_replies import UnusableReplies
from loopwright.settings import Settings


def default_policies(settings: Settings) -> tuple[Policy, ...]:
    """The policies an agent has when it is given none; of equally severe findings the first one wins.

    Those that a setting asks for stand among them only then.
    """
    guard, tools = settings.guard, settings.tools
    return (
        RecursionLimit(),
        Limit("model_calls"),
        Limit("tool_calls"),
        Limit("tokens"),
        Limit("cost"),
        Limit("seconds"),
        UnusableReplies(),
        ErrorRounds(limit=guard.error_rounds),
        RefusedRounds(),
        Insistence(),
        *((SameCall(guard.same_call, guard.same_call_in, guard.same_call_ends),) if guard.same_call else ()),
        Cycle(),
        UnknownOutcome(),
        SameWrite(),
        UntrustedArguments(),
        RepeatedFailure(),
        IdenticalResult(),
        NotOffered(),
        *((ToolLimit(),) if tools.max_calls else ()),
        *((CallsPerTurn(tools.calls_per_turn),) if tools.calls_per_turn else ()),
        ServedPure(),
        SameError(),
        NoNews(),
    )
