"""Where the time of a run went, as spans on its clock: what overlaps is counted once."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from loopwright.event_shapes import Event

GAP = 2.0
"""Seconds without anything that our own code and a storage do not take between two steps: no process ran it then."""
_BUSY = ("model", "call", "compression")


class Span(NamedTuple):
    """A stretch of time, in unix seconds."""

    start: float
    end: float


class Rest(NamedTuple):
    """The seconds that were nobody else's: those of our own code, and those of gaps in which nothing ran."""

    own: float
    left: float


def rest_of(events: Sequence[Event], waits: Sequence[Span]) -> Rest:
    """What is left of the time of these events of a run beside the model, the tools, compressions and `waits`."""
    whole = Span(events[0]["at"], max(event["at"] for event in events))
    spans = [(event["kind"], Span(event["at"] - event["seconds"], event["at"])) for event in events]
    busy = sum(_lengths(_joined([*waits, *(span for kind, span in spans if kind in _BUSY)], whole)))
    left = sum(gap for gap in _gaps(_joined([*waits, *(span for _, span in spans)], whole)) if gap > GAP)
    return Rest(max(0.0, whole.end - whole.start - busy - left), left)


def _joined(spans: Iterable[Span], whole: Span) -> list[Span]:
    """The spans in order and cut to the whole, those that touch as one."""
    found: list[Span] = []
    for start, end in sorted((max(each.start, whole.start), min(each.end, whole.end)) for each in spans):
        if found and start <= found[-1].end:
            found[-1] = Span(found[-1].start, max(found[-1].end, end))
        elif start <= end:
            found.append(Span(start, end))
    return found


def _lengths(spans: Iterable[Span]) -> Iterator[float]:
    return (span.end - span.start for span in spans)


def _gaps(spans: Sequence[Span]) -> Iterator[float]:
    return (after.start - before.end for before, after in pairwise(spans))
