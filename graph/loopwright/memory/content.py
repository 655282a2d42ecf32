"""Contents that are lists of parts: what of them shows, and in which form each role may have them."""

from collections.abc import Iterator
from typing import TypeAlias, TypeVar

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from loopwright.memory.wording import Wording

Part: TypeAlias = str | dict[str, object]
Content: TypeAlias = str | list[Part]

_M = TypeVar("_M", HumanMessage, AIMessage, ToolMessage)
_UNSENT = frozenset(
    {"thinking", "reasoning", "reasoning_content", "redacted_thinking", "tool_use", "tool_call", "function_call",
     "input_json_delta", "code_interpreter_call", "non_standard"}
)  # fmt: skip
"""Parts that belong to the model's own side; clients leave them out or put them elsewhere."""


def is_visible(content: Content) -> bool:
    """Whether a provider would see anything of this content: text that is not blank, or a part that is not text."""
    if isinstance(content, str):
        return bool(content) and not content.isspace()
    return any(_shows(part) for part in content)


def is_parts(message: BaseMessage) -> bool:
    """Whether the content is a list, whose form must be looked at."""
    return not isinstance(message.content, str)


def with_parts(message: _M, wording: Wording) -> _M:
    """The message with a list of parts as its role may have them; the same object where it has.

    Bare strings become text parts and blank ones go. Only users send images and files: elsewhere a sentence counts
    them.
    """
    if isinstance(message.content, str):
        return message
    parts = list(_parts(message, wording))
    return message if parts == message.content else message.model_copy(update={"content": parts or ""})


def _parts(message: BaseMessage, wording: Wording) -> Iterator[Part]:
    own, others = isinstance(message, AIMessage), 0
    for part in message.content:
        if _is_text(part):
            if _shows(part):
                yield {"type": "text", "text": part} if isinstance(part, str) else part
        elif not isinstance(part, dict) or "type" not in part:
            continue
        elif isinstance(message, HumanMessage) or (own and part["type"] in {*_UNSENT, "refusal"}):
            yield part
        elif part["type"] not in _UNSENT:
            others += 1
    if others:
        yield {"type": "text", "text": wording.attachments.format(count=others)}


def _shows(part: Part) -> bool:
    if isinstance(part, str):
        return bool(part.strip())
    if _is_text(part):
        return bool(str(part.get("text", "")).strip())
    return "type" in part and part["type"] not in _UNSENT


def _is_text(part: Part) -> bool:
    return isinstance(part, str) or part.get("type") == "text"
