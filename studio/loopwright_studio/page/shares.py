"""Wholes cut into parts: the time of a run, the tokens of a request, and the bars that show them."""

from collections.abc import Sequence
from typing import NamedTuple

from loopwright.report import RoundReport, RunEntry
from loopwright_studio.page.wording import Wording

LEAST = 0.0005
"""Seconds below which a part of a run's time is not named."""


class Share(NamedTuple):
    """A part of a whole: the class that colours it, what it is called, and how much it is."""

    name: str
    word: str
    amount: float


class Slice(NamedTuple):
    """Where a part lies in a bar of the length 100."""

    name: str
    start: float
    width: float


def time_shares(run: RunEntry, words: Wording) -> list[Share]:
    """Where the time of a run went, in seconds. Tools that ran together each count their whole time."""
    totals = run.totals
    shares = (
        Share("call_model", words.time_model, totals.model_seconds),
        Share("execute_tools", words.time_tools, totals.tool_seconds),
        Share("compress_memory", words.time_memory, totals.compression_seconds),
        Share("ask", words.time_waiting, totals.waiting_seconds),
        Share("own", words.time_own, run.own_seconds),
        Share("idle", words.time_idle, run.left_seconds),
    )
    return [share for share in shares if share.amount > LEAST]


def request_parts(turn: RoundReport, words: Wording) -> list[Share]:
    """The parts of a round's request, in tokens; none where the model was not asked."""
    if turn.model is None:
        return []
    parts = turn.model.parts
    shares = (
        Share("system", words.part_system, parts["system"]),
        Share("tools", words.part_tools, parts["tools"]),
        Share("summary", words.part_summary, parts["summary"]),
        Share("pinned", words.part_pinned, parts["pinned"]),
        Share("recent", words.part_recent, parts["recent"]),
    )
    return [share for share in shares if share.amount]


def slices(shares: Sequence[Share]) -> list[Slice]:
    """The parts side by side in a bar."""
    whole = sum(share.amount for share in shares) or 1.0
    found: list[Slice] = []
    start = 0.0
    for share in shares:
        width = 100 * share.amount / whole
        found.append(Slice(share.name, round(start, 2), round(width, 2)))
        start += width
    return found
