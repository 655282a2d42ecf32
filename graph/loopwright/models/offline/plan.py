"""A plan asks for calls and gets their outcomes; replaying it over a transcript shows how far a task has come."""

from collections.abc import Collection, Generator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from loopwright.language import Language
from loopwright.models.offline.history import Call, Outcome


@dataclass(frozen=True)
class Finding:
    """What a part of the task came to: a sentence, and its number where later parts can count with one."""

    text: str
    value: str | None = None


@dataclass(frozen=True)
class Desk:
    """What a plan may know: the language to answer in, the tools it may call, and the number that came before."""

    language: Language
    tools: Collection[str]
    previous: str | None = None


Plan: TypeAlias = Generator[tuple[Call, ...], list[Outcome], Finding]


def replay(plan: Plan, outcomes: Mapping[str, Outcome]) -> Finding | tuple[Call, ...]:
    """The plan's finding when the transcript holds every outcome it asks for, else the calls that it needs next."""
    try:
        calls = next(plan)
        while True:
            missing = tuple(call for call in calls if call.signature not in outcomes)
            if missing:
                return missing
            calls = plan.send([outcomes[call.signature] for call in calls])
    except StopIteration as done:
        finding: Finding = done.value
        return finding
