"""The other way to show steps: one user-role message with an action, an observation and a reflection for each."""

from collections.abc import Iterator, Sequence
from json import dumps

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from loopwright.language import Language
from loopwright.memory.clipping import matching, rare_words, shorten
from loopwright.memory.legality import Spoken
from loopwright.memory.profile import Profile
from loopwright.memory.wording import WORDING
from loopwright.shapes import View
from loopwright.transcript import Group, groups, text_of

STEPS_ID = "loopwright-steps"
"""Id of the message that tells steps; ids are not sent."""


def as_told(shown: Sequence[Spoken], view: View, profile: Profile, language: Language) -> Sequence[Spoken]:
    """What is shown, its steps as lines where the profile wants that; as it is otherwise.

    Neighbouring steps share a message. Earlier observations are clipped, the newest step's stands as it came; what the
    assistant said beside a call is left out. Answers and the user's messages stay messages.
    """
    if profile.observation_characters is None:
        return shown
    units = list(groups(shown))
    words = rare_words(text_of(message) for message in shown if isinstance(message, HumanMessage))
    newest = next((place for place in range(len(units) - 1, -1, -1) if _is_step(units[place])), -1)
    told: list[Spoken] = []
    lines: list[str] = []
    number = 0
    for place, unit in enumerate(units):
        if not _is_step(unit):
            told += [*_joined(lines, language), *(m for m in unit.messages if isinstance(m, Spoken))]
            lines = []
            continue
        room = None if place == newest else profile.observation_characters
        for line in _lines(unit, view, room, words, language):
            number += 1
            lines.append(WORDING[language].step.format(number=number) + line)
    return [*told, *_joined(lines, language)]


def _is_step(unit: Group) -> bool:
    reply = unit.messages[0]
    return isinstance(reply, AIMessage) and bool(reply.tool_calls)


def _joined(lines: Sequence[str], language: Language) -> list[Spoken]:
    said = "\n".join([WORDING[language].steps, *lines])
    return [HumanMessage(content=said, id=STEPS_ID)] if lines else []


def _lines(unit: Group, view: View, room: int | None, words: frozenset[str], language: Language) -> Iterator[str]:
    """One line a call; the reflection on the step stands behind its last call."""
    reply = unit.messages[0]
    assert isinstance(reply, AIMessage)
    observations = {m.tool_call_id: text_of(m) for m in unit.messages if isinstance(m, ToolMessage)}
    reflection = view.get("reflections", {}).get(reply.id or "", "")
    for place, call in enumerate(reply.tool_calls, start=1):
        seen = observations[call["id"] or ""]
        if room is not None and len(seen) > room:
            kept = matching(seen, room // 2, room // 2, room, words)
            seen = shorten(seen, room // 2, room // 2, kept, language=language)
        action = f"{call['name']}({dumps(call['args'], ensure_ascii=False, default=str)})"
        said = f" | Reflection={reflection}" if reflection and place == len(reply.tool_calls) else ""
        yield f"Action={action} | Observation={seen}{said}"
