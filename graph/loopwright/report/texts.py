"""The transcript by id: what was asked, said and returned."""

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, ToolMessage

from loopwright.framing import unframed
from loopwright.transcript import all_calls, input_id, text_of

HEAD = 400
"""Characters of a task, a reply or a result that a report repeats; the transcript has the whole."""


class Texts:
    """The transcript by id: what was asked, said and returned."""

    def __init__(self, messages: Sequence[AnyMessage]) -> None:
        self.places = {message.id: place for place, message in enumerate(messages) if message.id}
        self.results = {m.tool_call_id: unframed(text_of(m)) for m in messages if isinstance(m, ToolMessage)}
        self.messages = messages
        self.args: dict[str, dict[str, Any] | str] = {}
        for message in messages:
            if isinstance(message, AIMessage):
                self.args |= {call["id"] or "": call["args"] or {} for call in all_calls(message)}
        self.call_places = {call_id: place for place, call_id in enumerate(self.args)}

    def message(self, message_id: str) -> BaseMessage | None:
        """The message of this id."""
        place = self.places.get(message_id)
        return None if place is None else self.messages[place]

    def text(self, message_id: str) -> str:
        """The text of this message; empty when the transcript does not hold it."""
        message = self.message(message_id)
        return text_of(message) if message is not None else ""

    def task(self, delivery: str, first_reply: str) -> str:
        """What a run was asked: the message it was delivered with, else the user's last one before the first reply."""
        delivered = self.places.get(input_id(delivery), self.places.get(delivery))
        end = self.places.get(first_reply, len(self.messages)) if delivered is None else delivered + 1
        asked = (m for m in reversed(self.messages[:end]) if isinstance(m, HumanMessage))
        return next((text_of(message) for message in asked), "")
