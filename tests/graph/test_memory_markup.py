"""Calls written as text leave the history that is sent, prose and code stay."""

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from loopwright.memory import render
from loopwright.memory.markup import without_markup
from loopwright.state import EMPTY_VIEW


@pytest.mark.parametrize(
    "markup",
    [
        '<invoke name="clock"></invoke>',
        '<tool_call>\n{"name": "clock", "arguments": {}}\n</tool_call>',
        "<function=clock>{}</function>",
        '<function_calls><invoke name="clock"></invoke></function_calls>',
        '[TOOL_CALLS][{"name": "clock"}]',
        '<tool_call>{"name": "cut o',
    ],
)
def test_markup_is_replaced(markup: str) -> None:
    """What stands before it stays."""
    assert without_markup(f"checking\n{markup}", "-") == "checking\n-"


@pytest.mark.parametrize("text", ["a < b and b > c", "<b>bold</b>", "use the <invoke> element", "def f(): ...", ""])
def test_prose_and_other_markup_stay(text: str) -> None:
    """Only the forms in which models write calls are meant."""
    assert without_markup(text, "-") == text


def test_the_transcript_keeps_what_was_said() -> None:
    """Only the request has the placeholder; the message itself is not touched."""
    leaked = AIMessage('checking\n<invoke name="clock"></invoke>', id="m1")
    request = render([HumanMessage("q"), leaked, HumanMessage("go on")], EMPTY_VIEW, system_prompt="p")
    assert "<invoke" not in str(request)
    assert "<invoke" in leaked.text
