"""Months that a text names, in English, Chinese or ISO form."""

import re
from typing import NamedTuple

from loopwright.models.offline.numerals import NUMERAL, numeral

ENGLISH = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
"""Names of the months, January first."""


class Month(NamedTuple):
    """A month, with its year where one was named."""

    number: int
    year: int | None = None


_ISO = re.compile(r"\b((?:19|20)\d\d)-(0[1-9]|1[0-2])(?!-?\d)")
_CHINESE = re.compile(rf"(?:((?:19|20)\d\d)\s*年\s*)?(?<!\d)(1[0-2]|[1-9]|{NUMERAL})\s*月份?")
# "may" and "mar" are words of their own: short forms and May count with a capital, or in lower case where "in" leads
_NAME = re.compile(
    r"\b(?:(?:in|for|of|during)\s+)?("
    + "|".join(rf"{name}|{name[:3]}\.?" + (r"|Sept\.?" if name == "September" else "") for name in ENGLISH)
    + r")\b(?!\s+(?:I|we)\b)(?:\s+((?:19|20)\d\d)\b)?",
    re.I,
)


def months_in(text: str) -> tuple[Month, ...]:
    """The months named, each once, in order."""
    found: dict[Month, int] = {}
    for match in _ISO.finditer(text):
        found.setdefault(Month(int(match[2]), int(match[1])), match.start())
    for match in _CHINESE.finditer(text):
        number = int(match[2]) if match[2].isdigit() else numeral(match[2])
        if number <= 12:
            found.setdefault(Month(number, int(match[1]) if match[1] else None), match.start())
    for match in _NAME.finditer(text):
        if match[1][0].isupper() or match[0] != match[1] or len(match[1]) > 3:
            number = next(at for at, name in enumerate(ENGLISH, 1) if match[1][:3].lower() == name[:3].lower())
            found.setdefault(Month(number, int(match[2]) if match[2] else None), match.start())
    return tuple(sorted(found, key=lambda month: found[month]))


def without_months(text: str) -> str:
    """The text with every month's name taken out."""
    return _NAME.sub(" ", _CHINESE.sub(" ", _ISO.sub(" ", text)))
