"""What a model thinks aloud in tags, as it stands in its text where the server has no parser for it."""

import re

_TAGGED = re.compile(r"\s*<think(?:ing)?>(.*?)(?:</think(?:ing)?>|\Z)\s*", re.DOTALL)
_CLOSED = re.compile(r"(.*?)^[ \t]*</think(?:ing)?>[ \t]*$\s*", re.DOTALL | re.MULTILINE)
"""Some chat templates open the tag in the prompt, so that the text has its end alone, on a line of its own."""


def thoughts_apart(text: str) -> tuple[str, str]:
    """The thoughts that a text begins with, and the text behind them; thoughts that never end are all of it."""
    if "think" not in text:
        return "", text
    found = _TAGGED.match(text) or (None if "<think" in text else _CLOSED.match(text))
    return (found[1].strip(), text[found.end() :]) if found else ("", text)
