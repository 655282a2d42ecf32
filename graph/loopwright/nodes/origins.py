"""Where the values of a call come from: which arguments stand in no text but that of tools from outside."""

from collections.abc import Iterator, Mapping, Sequence

from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage, ToolMessage

from loopwright.nodes.wiring import Wiring
from loopwright.transcript import text_of

SHORTEST, LONGEST = 3, 200
"""Characters of a value that can steer an effect: an address, a path, an id, an amount. Longer text is content."""


def from_outside(wiring: Wiring, messages: Sequence[AnyMessage], args: Mapping[str, object]) -> list[str]:
    """Names of the arguments with a value that only text from outside holds: not the user's, not a trusted tool's."""
    if not wiring.outside:
        return []
    values = {name: list(_steering(value)) for name, value in args.items()}
    if not any(values.values()):
        return []
    outside = [text_of(m) for m in messages if isinstance(m, ToolMessage) and m.name in wiring.outside]
    if not outside:
        return []
    trusted = [wiring.settings_now().system_prompt, *(text_of(m) for m in messages if _trusted(wiring, m))]
    return [
        name
        for name, found in values.items()
        if any(_stands(value, outside) and not _stands(value, trusted) for value in found)
    ]


def _trusted(wiring: Wiring, message: AnyMessage) -> bool:
    if isinstance(message, ToolMessage):
        return message.name not in wiring.outside
    return isinstance(message, HumanMessage | SystemMessage)


def _stands(value: str, texts: Sequence[str]) -> bool:
    return any(value in text.casefold() for text in texts)


def _steering(value: object) -> Iterator[str]:
    """The short values in an argument, without case; yes and no and small numbers stand everywhere and say nothing."""
    if isinstance(value, Mapping):
        for item in value.values():
            yield from _steering(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _steering(item)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        text = str(value).strip().casefold()
        if SHORTEST <= len(text) <= LONGEST and "\n" not in text:
            yield text
