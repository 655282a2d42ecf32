"""Applies a view to a legal transcript: folded work becomes the memory block, clips are shortened, the rest stays."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from loopwright.language import Language
from loopwright.memory.clipping import head_length, shorten
from loopwright.memory.legality import Spoken
from loopwright.memory.memory_block import memory_messages
from loopwright.memory.wording import WORDING
from loopwright.shapes import View
from loopwright.transcript import Group, groups, text_of

DROPPED_ID = "loopwright-dropped"
"""Id of a marker for left-out steps in a request; ids are not sent."""


def seen(spoken: Sequence[Spoken], view: View, language: Language) -> Sequence[Spoken]:
    """What the model sees of the transcript. Only whole groups are left out, and no user message ever.

    Pins and memory block stand behind the user messages of the folded part. Ids that the transcript does not hold
    change nothing. An untouched transcript is returned as it is.
    """
    memory = memory_messages(view, language)
    if not memory and not hides(view):
        return spoken
    return list(_lines(spoken, view, language, memory))


def hides(view: View) -> bool:
    """Whether the view may leave out anything that the transcript holds."""
    return bool(view["folded_through"] or view["clips"] or view["dropped"])


def _lines(spoken: Sequence[Spoken], view: View, language: Language, memory: list[HumanMessage]) -> Iterator[Spoken]:
    units = list(groups(spoken))
    places = {message.id: place for place, unit in enumerate(units) for message in unit.messages if message.id}
    folded = places.get(view["folded_through"], -1) + 1
    for unit in units[:folded]:
        if isinstance(unit.messages[0], HumanMessage):
            yield from _clipped(unit, view["clips"], language)
    yield from memory
    steps = _runs(units, covered(view, places))
    for place, unit in enumerate(units[folded:], start=folded):
        if place not in steps:
            yield from _clipped(unit, view["clips"], language)
        elif steps[place]:
            yield HumanMessage(content=WORDING[language].dropped.format(count=steps[place]), id=DROPPED_ID)


def covered(view: View, places: Mapping[str, int]) -> set[int]:
    """Places behind the folded part that the dropped ranges cover; `places` holds each message's group by its id."""
    folded = places.get(view["folded_through"], -1)
    found: set[int] = set()
    for first, last in view["dropped"]:
        if first in places and last in places:
            found.update(range(max(folded + 1, places[first]), places[last] + 1))
    return found


def _runs(units: Sequence[Group], gone: AbstractSet[int]) -> dict[int, int]:
    """The places of the left-out groups: the first of a run with the run's length, the others with 0.

    User messages stay, and do not part a run: one line says how many steps are left out around them.
    """
    steps: dict[int, int] = {}
    start: int | None = None
    for place, unit in enumerate(units):
        if isinstance(unit.messages[0], AIMessage):
            if place not in gone:
                start = None
            else:
                start = place if start is None else start
                steps[place] = 0
                steps[start] += 1
    return steps


def _clipped(unit: Group, clips: Mapping[str, Sequence[int]], language: Language) -> Iterator[Spoken]:
    for message in unit.messages:
        assert isinstance(message, HumanMessage | AIMessage | ToolMessage)
        key = clip_key(message)
        yield clipped(message, clips[key], language) if key in clips else message


def clip_key(message: Spoken) -> str:
    """Under which id a view clips this message: a result under its call's, any other under its own."""
    return message.tool_call_id if isinstance(message, ToolMessage) else message.id or ""


def clipped(message: Spoken, sizes: Sequence[int], language: Language) -> Spoken:
    """A copy that keeps `sizes[0]` characters of the head, `sizes[1]` of the tail, and the pieces numbered behind them.

    A user's message says how to read on in it. Of an assistant message long argument values are shortened too. Blocks
    that are not text stay in a user's message and are counted in a marker elsewhere. The copy has an id of its own, so
    that no cached count is taken for it.
    """
    head, tail, kept = sizes[0], sizes[1], sizes[2:]
    text = text_of(message)
    hint = ""
    if isinstance(message, HumanMessage) and message.id:  # a user's message can be read on from the transcript itself
        hint = WORDING[language].read_on.format(ref=message.id, offset=head_length(text, head))
    short = shorten(text, head, tail, kept, hint=hint, language=language) if text else text
    update: dict[str, object] = {"content": _content(message, text, short, language)}
    if isinstance(message, AIMessage) and message.tool_calls:
        calls = [{**call, "args": _short_values(call["args"], head, tail, language)} for call in message.tool_calls]
        update["tool_calls"] = calls
    if update["content"] == message.content and update.get("tool_calls") in (
        None,
        getattr(message, "tool_calls", None),
    ):
        return message
    return message.model_copy(update={**update, "id": f"{message.id}~{'-'.join(map(str, sizes))}"})


def _content(message: Spoken, text: str, short: str, language: Language) -> object:
    if isinstance(message.content, str):
        return short
    others = [block for block in message.content if not isinstance(block, str) and block.get("type") != "text"]
    if not isinstance(message, ToolMessage):
        return [*([{"type": "text", "text": short}] if short else []), *others] if short != text else message.content
    marker = WORDING[language].attachments.format(count=len(others))
    return "\n".join(filter(None, [short, marker if others else ""]))


def _short_values(value: object, head: int, tail: int, language: Language) -> object:
    """Arguments with every long text in them shortened."""
    if isinstance(value, str):
        return shorten(value, head, tail, language=language)
    if isinstance(value, dict):
        return {key: _short_values(item, head, tail, language) for key, item in value.items()}
    if isinstance(value, list):
        return [_short_values(item, head, tail, language) for item in value]
    return value
