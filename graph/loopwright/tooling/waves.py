"""Which of the pending calls run together."""

from collections.abc import Sequence
from typing import Protocol, TypeVar

from loopwright.state import Effect


class HasEffect(Protocol):
    """Anything that declares an effect."""

    @property
    def effect(self) -> Effect | None:
        """The declared effect; None has none."""
        ...


_C = TypeVar("_C", bound=HasEffect)


def first_wave(calls: Sequence[_C]) -> list[_C]:
    """The calls in order up to the first write; a write that comes first goes alone."""
    wave: list[_C] = []
    for call in calls:
        if call.effect == "write":
            return wave or [call]
        wave.append(call)
    return wave
