"""Which protocol a thread's requests are made in, where the setting is `auto`."""

from collections.abc import Sequence

from langchain_core.messages import AIMessage, ToolMessage

from loopwright.event_shapes import Event
from loopwright.memory import count_message
from loopwright.models.protocols import FormName, TextTools, rewritten
from loopwright.settings import ProtocolName

TURNS_TO: FormName = "json_schema"
"""What `auto` turns to: the server enforces the form where it can, and a model is shown it where it cannot."""
WRITTEN_TWICE = 2
"""Replies with calls written as text after which a model is taken for one that cannot call tools."""


def has_turned(chosen: ProtocolName, events: Sequence[Event]) -> bool:
    """Whether `auto` has turned to JSON in a thread with this log, for the rest of the thread.

    It does after two replies whose calls were written as text, or once a request was made in JSON because the server
    refused tools.
    """
    if chosen != "auto":
        return False
    written = 0
    for event in reversed(events):
        if event["kind"] == "model":
            if event.get("protocol"):
                return True
            written += bool(event.get("rescued"))
    return written >= WRITTEN_TWICE


def text_protocol(protocol: ProtocolName) -> FormName | None:
    """The protocol if it is one of text."""
    return None if protocol == "native" or protocol == "auto" else protocol


def rewriting_tokens(message: AIMessage, protocol: FormName, tools: TextTools, model: str) -> int:
    """Tokens that an assistant message and the frames of its results take more as text than as what they are."""
    texts = [AIMessage(text) for text in rewritten(message, protocol, tools)]
    results = [ToolMessage("", tool_call_id="") for _ in message.tool_calls]
    native = [message, *results]
    return sum(count_message(each, model) for each in texts) - sum(count_message(each, model) for each in native)
