"""Calls that a model wrote as text into an answer: later replies imitate what stands in the history."""

import re

_MARKUP = re.compile(
    r"<(tool_calls?|function_calls?)>.*?(?:</\1>|\Z)"
    r"|<invoke\s+name=[^>]*>.*?(?:</invoke>|\Z)"
    r"|<function=[^>]*>.*?(?:</function>|\Z)"
    r"|\[TOOL_CALLS\].*\Z",
    re.DOTALL,
)


def without_markup(text: str, placeholder: str) -> str:
    """The text with the markup of each call replaced; a prose answer is returned as it is."""
    return _MARKUP.sub(placeholder, text) if "<" in text or "[TOOL_CALLS]" in text else text
