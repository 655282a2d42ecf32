"""Texts of a run in little room: what is cut says so, and what matters of an error stays."""

import json

from loopwright.report import CallReport
from loopwright_studio.call_line import SHOWN

_TRACEBACK = "Traceback (most recent call last)"


def head(text: str, most: int) -> str:
    """The beginning of a text; where it is cut, it ends with an ellipsis."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def cut(arguments: str) -> str:
    """Arguments on one line, with an ellipsis where the line has as many characters as one can have."""
    return f"{arguments}…" if len(arguments) == SHOWN else arguments


def value_text(value: object) -> str:
    """An argument's value as it is read: a text as it is, all else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def essence(text: str) -> str:
    """What an error says: of a traceback its last line, which names the error; of all else everything."""
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if _TRACEBACK in text else text


def what_went_wrong(call: CallReport) -> str:
    """The error of a call as it was raised; without one, what the model was told."""
    return essence(call.failure["text"] if call.failure else call.result or "")
