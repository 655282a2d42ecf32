"""The request that a thread would send next, in the terminal: its tokens by part, and every message of it."""

from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from loopwright.threads.previewing import Preview
from loopwright.transcript import all_calls, text_of
from loopwright_studio.call_line import arguments
from loopwright_studio.console import Screen
from loopwright_studio.round_view import parts_text
from loopwright_studio.visible import one_line, visible


def request_data(preview: Preview) -> dict[str, Any]:
    """The request as plain data."""
    return {
        "thread": preview.thread,
        "tokens": preview.tokens,
        "budget": preview.budget,
        "parts": preview.parts,
        "shortened": preview.shortened,
        "messages": [message.model_dump(mode="json") for message in preview.messages],
    }


def show_request(screen: Screen, preview: Preview) -> None:
    """Print the request."""
    words = screen.words
    screen.say(words.next_request.format(thread=one_line(preview.thread)), "bold")
    parts = parts_text(words, preview.parts)
    screen.say(words.of_budget.format(tokens=preview.tokens, budget=preview.budget, parts=parts))
    if preview.shortened:
        screen.say(words.over_budget)
    for message in preview.messages:
        _message(screen, message)


def _message(screen: Screen, message: BaseMessage) -> None:
    screen.say(f"{message.type}:", "bold")
    text = text_of(message)
    if text:
        screen.say(visible(text))
    if isinstance(message, AIMessage):
        for call in all_calls(message):
            screen.say(
                f"  {screen.glyphs['ok']} {one_line(call['name'] or '?')}({arguments(call['args'] or {})})", "cyan"
            )
