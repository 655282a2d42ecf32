"""Plans of one call or two: computing an expression, telling the time."""

import re
from difflib import SequenceMatcher

from loopwright.language import Language
from loopwright.models.offline.arithmetic import PREVIOUS
from loopwright.models.offline.history import Call
from loopwright.models.offline.intents import Arithmetic, TellTime
from loopwright.models.offline.places import Place
from loopwright.models.offline.plan import Desk, Finding, Plan
from loopwright.models.offline.wording import say

ALIKE = 0.75
"""Likeness of two names (difflib's ratio) from which a proposal is taken for a correction of the spelling."""

_ZONE = re.compile(r"\b[A-Z][A-Za-z]+(?:/[A-Z][A-Za-z_]+){1,2}\b")
_PERCENTAGE = re.compile(r"([\d.]+) \* ([\d.]+) / 100")


def arithmetic_plan(desk: Desk, intent: Arithmetic) -> Plan:
    """The calculator's result; `@` is replaced by the number that came before."""
    expression = intent.expression
    if PREVIOUS in expression and desk.previous is None:
        return Finding(say(desk.language, "no_number_before", expression=described(desk.language, intent)))
    negative = (desk.previous or "").startswith("-")
    expression = expression.replace(PREVIOUS, f"({desk.previous})" if negative else desk.previous or "")
    [outcome] = yield (Call("calculator", {"expression": expression}),)
    if outcome.failed:
        return Finding(say(desk.language, "computing_failed", expression=expression, error=outcome.text))
    # a note of the agent may stand beside the result
    result = next((line for line in outcome.text.splitlines() if "=" in line), "")
    shown, equals, value = result.rpartition("=")
    if not equals:
        return Finding(outcome.text.strip())
    value = value.strip()
    if share := _PERCENTAGE.fullmatch(shown.strip()):
        return Finding(say(desk.language, "percentage", share=share[2], whole=share[1], value=value), value)
    return Finding(say(desk.language, "computed", expression=shown.strip(), value=value), value)


def described(language: Language, intent: Arithmetic) -> str:
    """The expression with words in place of the number that came before."""
    return intent.expression.replace(PREVIOUS, say(language, "previous"))


def time_plan(desk: Desk, intent: TellTime) -> Plan:
    """What the clock says for every place; an unknown zone is asked again under a like name that it proposes."""
    if not intent.places:
        [outcome] = yield (Call("now"),)
        if outcome.failed:
            return Finding(say(desk.language, "time_failed", place="UTC", error=outcome.text))
        return Finding(say(desk.language, "time_utc", time=outcome.text.strip()))
    outcomes = yield tuple(Call("now", {"timezone": place.zone}) for place in intent.places)
    sentences = []
    for place, outcome in zip(intent.places, outcomes, strict=True):
        proposed = _proposed(place.zone, outcome.text) if outcome.failed else None
        if proposed:
            [second] = yield (Call("now", {"timezone": proposed}),)
            if not second.failed:
                sentences.append(_adapted(desk, place, proposed, second.text))
                continue
        sentence = "time_failed" if outcome.failed else "time"
        text = outcome.text.strip()
        sentences.append(say(desk.language, sentence, place=place.name, time=text, error=text))
    return Finding("\n".join(sentences))


def _proposed(zone: str, error: str) -> str | None:
    """The one zone in the error whose name is nearly the asked one: any other would be another place."""
    asked = zone.rsplit("/", 1)[-1].lower()
    proposals = set(_ZONE.findall(error)) - {zone}
    alike = [p for p in proposals if SequenceMatcher(None, asked, p.rsplit("/", 1)[-1].lower()).ratio() >= ALIKE]
    return alike[0] if len(alike) == 1 else None


def _adapted(desk: Desk, place: Place, zone: str, text: str) -> str:
    return say(desk.language, "time_adapted", place=place.name, time=text.strip(), asked=place.zone, zone=zone)
