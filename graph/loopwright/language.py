"""Which language the fixed sentences are said in: English, or Chinese where the user writes Chinese."""

import re
from collections.abc import Sequence
from typing import Literal, TypeAlias

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from loopwright.transcript import text_of

Language: TypeAlias = Literal["en", "zh"]

HAN = "\u3400-\u9fff"
"""Range of Chinese characters, for use inside a regular expression's brackets."""
_READ = 2_000
_KANA = re.compile(r"[\u3040-\u30ff]")
_HAN = re.compile(f"[{HAN}]")
_GAP = re.compile(rf"[\s{HAN}]+")


def language(text: str) -> Language:
    """The language of a text: Chinese when it has at least as many Chinese characters as words of other scripts.

    A character weighs like a word, and so does the name of a file, a path or an address as a whole: `看 notes/may.txt`
    is Chinese, and an English sentence about a file with a Chinese name is not. Only the first 2,000 characters are
    looked at; Japanese counts as English.
    """
    start = text[:_READ]
    if start.isascii():
        return "en"
    han = len(_HAN.findall(start))
    words = sum(any(map(str.isalpha, word)) for word in _GAP.split(start))
    return "zh" if han and han >= words and not _KANA.search(start) else "en"


def language_of(messages: Sequence[BaseMessage]) -> Language:
    """The language of the newest user message that has a text."""
    for message in reversed(messages):
        if type(message) is ToolMessage or type(message) is AIMessage:  # isinstance is slow where it fails
            continue
        if isinstance(message, HumanMessage) and (text := text_of(message)).strip():
            return language(text)
    return "en"
