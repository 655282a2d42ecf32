"""The number that the newest tool result of earlier tasks ended with, for "and 15 % of that"."""

import re
from collections.abc import Sequence

from loopwright.models.offline.history import Outcome

_VALUE = re.compile(r"=\s*(-?\d[\d.]*(?:[eE][-+]?\d+)?)\s*(?:$|\()", re.M)


def last_number(outcomes: Sequence[Outcome]) -> str | None:
    """The value behind the equals sign of the newest result of calculator or read_table, or None."""
    for outcome in reversed(outcomes):
        if (
            outcome.tool in ("calculator", "read_table")
            and not outcome.failed
            and (match := _VALUE.search(outcome.text))
        ):
            return match[1]
    return None
