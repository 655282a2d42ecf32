"""An extractive summary: the sentences that carry figures, names and errors, in their order, within a word limit."""

import re
from collections.abc import Sequence

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from loopwright.language import HAN, language
from loopwright.models.offline.wording import say

WORDS = 120
"""Length of a summary where the request names none; a Chinese character counts as a word."""
SENTENCE_READ = 300
"""Characters of a sentence that are looked at to judge whether it tells something."""

_REQUEST = re.compile(r"\bsummar(?:y|i[sz]e|i[sz]ing)\b|总结|摘要|概括|概述", re.I)
_CLOSING = re.compile(r"no more tools|不要再调用工具", re.I)
_LIMIT = re.compile(r"(?<![\d,])(\d[\d,]{0,8})[\s-]{0,3}(?:words?|字|个字)", re.I)
_TELLING = re.compile(
    r"\d|[\w-]+/[\w.-]+|\w\.\w{2,4}\b|=|\b(?:error|failed|decided|because|not found)\b|错误|失败|决定|因为", re.I
)
_WORD = re.compile(rf"[{HAN}]|[^\s{HAN}]+")


def asks_for_summary(messages: Sequence[BaseMessage]) -> bool:
    """Whether the last user message asks to summarise; an instruction to close the run comes first."""
    system = " ".join(message.text for message in messages if isinstance(message, SystemMessage))
    last = next((message for message in reversed(messages) if isinstance(message, HumanMessage)), None)
    return last is not None and bool(_REQUEST.search(last.text)) and not _CLOSING.search(system + last.text)


def summarise(messages: Sequence[BaseMessage]) -> str:
    """An extract of the last user message, in its language, of at most the words that the request names."""
    material = next(message.text for message in reversed(messages) if isinstance(message, HumanMessage))
    spoken = language(material)
    system = [message.text for message in messages if isinstance(message, SystemMessage)]
    limits = [int(number.replace(",", "")) for text in (material, *system) for number in _LIMIT.findall(text)]
    label = say(spoken, "extract")
    room = (limits[0] if limits else WORDS) - len(_WORD.findall(label))
    chosen = _choose(_sentences(material), room)
    if not chosen:
        return say(spoken, "nothing_to_extract")
    return "\n".join([label, *chosen])


def _sentences(text: str) -> list[str]:
    """Lines and sentences, each once, without the request's own."""
    pieces = (piece.strip() for piece in re.split(r"\n+|(?<=[.!?])\s+|(?<=[。！？])", text))
    return list(
        dict.fromkeys(piece for piece in pieces if piece and not _REQUEST.search(piece) and not _LIMIT.search(piece))
    )


def _choose(sentences: list[str], room: int) -> list[str]:
    """Telling sentences first, then the others, as long as they fit; put back into their order."""
    rated = sorted(range(len(sentences)), key=lambda at: not _TELLING.search(sentences[at][:SENTENCE_READ]))
    kept: list[int] = []
    for at in rated:
        words = len(_WORD.findall(sentences[at]))
        if words <= room:
            kept.append(at)
            room -= words
    return [sentences[at] for at in sorted(kept)]
