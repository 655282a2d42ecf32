"""What no compression may shorten: sentences that a person pinned, and facts that the model asked to keep."""

from collections.abc import Sequence
from json import dumps
from typing import Literal

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from loopwright.shapes import Pin, View

REMEMBER = "remember"
"""Name of the built-in tool by which the model keeps a fact; its argument is `fact`."""
LONGEST_FACT = 300
"""Characters of one fact that the model keeps."""
MOST_BYTES = {"user": 2_000, "model": 1_200}
"""Bytes of the view that the pins of either may take. Of the model's the newest stay; one of the user's is refused."""


def pinned(view: View, text: str, by: Literal["user", "model"]) -> View:
    """The view with this sentence pinned; as it is where it was pinned before.

    Raises ValueError for an empty text, and where the user's pins would take more than 2,000 bytes together.
    """
    pin: Pin = {"text": " ".join(text.split()), "by": by}
    if not pin["text"]:
        raise ValueError("There is nothing to pin: give a sentence.")
    if pin in view["pins"]:
        return view
    own = [*(known for known in view["pins"] if known["by"] == by), pin]
    others = [known for known in view["pins"] if known["by"] != by]
    while _bytes(own) > MOST_BYTES[by]:
        if by == "user":
            raise ValueError(
                f"The pins of this thread would take {_bytes(own)} bytes, and {MOST_BYTES[by]} are kept in every "
                "request: pin shorter sentences."
            )
        own = own[1:]
    return {**view, "pins": [*others, *own] if by == "model" else [*own, *others]}


def with_remembered(view: View, messages: Sequence[BaseMessage]) -> View:
    """The view with what the model asked to keep, the newest last; the same object where there is nothing new."""
    asked: dict[str, str] = {}
    for message in messages:
        if isinstance(message, AIMessage):
            for call in message.tool_calls:
                if call["name"] == REMEMBER and isinstance(call["args"].get("fact"), str):
                    asked[call["id"] or ""] = call["args"]["fact"][:LONGEST_FACT]
        elif isinstance(message, ToolMessage) and message.status == "success" and message.tool_call_id in asked:
            fact = asked.pop(message.tool_call_id)
            view = pinned(view, fact, "model") if fact.strip() else view
    return view


def _bytes(pins: Sequence[Pin]) -> int:
    return len(dumps(pins, ensure_ascii=False).encode("utf-8", "surrogatepass"))
