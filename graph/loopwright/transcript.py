"""Pure questions to a transcript: the last reply, which calls are open, which messages belong together."""

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import NamedTuple

from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    InvalidToolCall,
    ToolCall,
    ToolMessage,
)

_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def call_id(message_id: str, position: int) -> str:
    """Our id of a message's call: nine alphanumerics (Mistral's form), since servers reuse, blank and repeat theirs."""
    number = int.from_bytes(blake2b(f"{message_id}:{position}".encode(), digest_size=8).digest(), "big")
    digits = []
    for _ in range(9):
        number, digit = divmod(number, 62)
        digits.append(_ALPHABET[digit])
    return "".join(digits)


def input_id(delivery: str) -> str:
    """Id of the user message that a delivery brings."""
    return f"in-{delivery}"


def text_of(message: BaseMessage) -> str:
    """The message's text: its text blocks joined, all else left out."""
    return message.text if isinstance(message.content, list) else message.content


def all_calls(message: AIMessage) -> list[ToolCall | InvalidToolCall]:
    """A reply's calls in the order the provider sees them: the readable ones, then those that could not be read."""
    return [*message.tool_calls, *message.invalid_tool_calls]


def last_reply(messages: Sequence[AnyMessage]) -> AIMessage | None:
    """The newest assistant message."""
    return next((m for m in reversed(messages) if isinstance(m, AIMessage)), None)


def last_user(messages: Sequence[AnyMessage]) -> HumanMessage | None:
    """The newest user message."""
    return next((m for m in reversed(messages) if isinstance(m, HumanMessage)), None)


def open_calls(messages: Sequence[AnyMessage]) -> list[ToolCall | InvalidToolCall]:
    """Calls of the newest assistant message that no tool message behind it answers, in call order."""
    answered: set[str] = set()
    for message in reversed(messages):
        if isinstance(message, ToolMessage):
            answered.add(message.tool_call_id)
        elif isinstance(message, AIMessage):
            return [call for call in all_calls(message) if call["id"] not in answered]
    return []


def answered_twice(messages: Sequence[AnyMessage]) -> list[str]:
    """The call ids that one assistant message's results answer more than once."""
    twice: list[str] = []
    seen: set[str] = set()
    for message in messages:
        if not isinstance(message, ToolMessage):
            seen.clear()
        elif message.tool_call_id in seen:
            twice.append(message.tool_call_id)
        else:
            seen.add(message.tool_call_id)
    return twice


class Group(NamedTuple):
    """Messages that stand or fall together: an assistant message with all its results, or one other message."""

    messages: tuple[AnyMessage, ...]

    @property
    def id(self) -> str:
        """Id of the group's first message."""
        return self.messages[0].id or ""

    @property
    def last_id(self) -> str:
        """Id of the group's last message."""
        return self.messages[-1].id or ""


def groups(messages: Sequence[AnyMessage]) -> Iterator[Group]:
    """The transcript cut into groups, in order."""
    current: list[AnyMessage] = []
    for message in messages:
        if current and not (isinstance(message, ToolMessage) and isinstance(current[0], AIMessage)):
            yield Group(tuple(current))
            current = []
        current.append(message)
    if current:
        yield Group(tuple(current))
