"""Which language a text is in: English or Chinese."""

import re
from typing import Literal, TypeAlias

Language: TypeAlias = Literal["en", "zh"]

HAN = "\u3400-\u9fff"
"""Range of Chinese characters, for use inside a regular expression's brackets."""


def language_of(text: str) -> Language:
    """Chinese when the text has more Chinese characters than Latin words; names of files should be cut out before."""
    return "zh" if len(re.findall(f"[{HAN}]", text)) > len(re.findall(r"[A-Za-z]{2,}", text)) else "en"
