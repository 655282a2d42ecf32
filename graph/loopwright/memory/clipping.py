"""Shortens a text without making a wrong value: cut only between words, keeping what the task speaks of."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from loopwright.language import Language
from loopwright.memory.wording import WORDING

PIECE = 200
"""Longest piece of a line, in characters, that is kept because of its words."""
_GAP = "[…]"
_MARKER = "[… "
_UNSPACED = r"\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff01-\uff0f\uff1a-\uff20"  # Han, kana and their punctuation
_TERM = re.compile(rf"[{_UNSPACED}]+|[^\W{_UNSPACED}]+")
_BOUNDARY = re.compile(rf"[\s{_UNSPACED}]")
_NUMERALS = frozenset("0123456789０１２３４５６７８９〇零一二三四五六七八九十百千万亿萬億兆两点點.．,，%％")
_COMMON_WORDS = (
    "the and for with from that this what which who are was were has have had not but you your can could will would "
    "should all any into out then than them they its his her our use using does did how when where why there here "
    "please tell give get let also only just about each both more most some such very been being one two true false "
    "null none"
)
_COMMON = frozenset(_COMMON_WORDS.split())


def terms(text: str) -> set[str]:
    """What a text is searched by: lower-case words of three letters or with a digit, pairs of Chinese characters."""
    found: set[str] = set()
    for run in _TERM.findall(text):
        if _BOUNDARY.match(run):
            found.update(run[i : i + 2] for i in range(len(run) - 1))
        elif (len(run) > 2 and run.lower() not in _COMMON) or (len(run) == 2 and any(c.isdigit() for c in run)):
            found.add(run.lower())
    return found


def rare_words(user_messages: Iterable[str], later_arguments: Iterable[str] = ()) -> frozenset[str]:
    """The words worth keeping lines for: those of the user's messages and later arguments, without common ones."""
    found: set[str] = set()
    for text in (*user_messages, *later_arguments):
        found |= terms(text)
    return frozenset(found)


def clip(text: str, head: int, tail: int, words: AbstractSet[str], *, hint: str = "", language: Language = "en") -> str:
    """The text with at most `head` and `tail` characters kept, and half as many again of the lines that hold `words`.

    A text that would not get shorter is returned as it is. `hint` says how to read the rest and stands in the marker.
    """
    kept = matching(text, head, tail, (head + tail) // 2, words)
    return shorten(text, head, tail, kept, hint=hint, language=language)


def shorten(
    text: str, head: int, tail: int, kept: Sequence[int] = (), *, hint: str = "", language: Language = "en"
) -> str:
    """The text's head, the pieces numbered `kept` (see `matching`) and its tail, with a marker for what is left out."""
    if head + tail >= len(text):
        return text
    first, last = _head_end(text, head), _tail_start(text, tail)
    spans = [Span(0, first)] if first else []
    if kept:
        pieces = list(_pieces(text, first, last))
        spans += [pieces[number] for number in sorted(set(kept)) if 0 <= number < len(pieces)]
    spans += [Span(last, len(text))] if last < len(text) else []
    shown = sum(span.end - span.start for span in spans)
    said = WORDING[language].left_out_hint if hint else WORDING[language].left_out
    short = _joined(text, spans, said.format(count=len(text) - shown, hint=hint))
    return short if len(short) < len(text) else text


class Span(NamedTuple):
    """A stretch of a text: from `start` up to, not including, `end`."""

    start: int
    end: int


def _joined(text: str, spans: Sequence[Span], marker: str) -> str:
    """The spans as lines, the marker in the first gap, a bare sign in the others."""
    lines: list[str] = []
    at = 0
    for span in (*spans, Span(len(text), len(text))):
        if span.start > at and text[at : span.start].strip():
            lines.append(_GAP if marker in lines else marker)
        if kept := text[span.start : span.end].strip("\r\n"):
            lines.append(kept)
        at = span.end
    return "\n".join(lines)


def matching(text: str, head: int, tail: int, room: int, words: AbstractSet[str], most: int = 100) -> list[int]:
    """Numbers of the pieces between head and tail worth keeping: at most `most`, together at most `room` characters."""
    if len(text) <= head + tail:
        return []
    return _best(text, list(_pieces(text, _head_end(text, head), _tail_start(text, tail))), room, words, most)


def matching_pieces(text: str, room: int, words: AbstractSet[str]) -> list[str]:
    """The pieces of the whole text that are worth keeping, in order, together at most `room` characters."""
    pieces = list(_pieces(text, 0, len(text)))
    return [text[pieces[n].start : pieces[n].end].strip() for n in _best(text, pieces, room, words, len(pieces))]


def _best(text: str, pieces: Sequence[Span], room: int, words: AbstractSet[str], most: int) -> list[int]:
    """Numbers of the pieces that share most, in order; a word counts less the more pieces hold it.

    Markers of an earlier clip come first: they say how to read on.
    """
    shared = [terms(text[piece.start : piece.end]) & words for piece in pieces]
    frequency = Counter(word for found in shared for word in found)
    common = max(3, len(pieces) // 5)
    scores = [sum(1 / frequency[word] for word in found if frequency[word] <= common) for found in shared]
    for number, piece in enumerate(pieces):
        if text.startswith(_MARKER, piece.start):
            scores[number] = float("inf")
    kept: list[int] = []
    for number in sorted(range(len(pieces)), key=lambda n: -scores[n]):
        cost = pieces[number].end - pieces[number].start + len(_GAP) + 2
        if scores[number] > 0 and cost <= room and len(kept) < most:
            room -= cost
            kept.append(number)
    return sorted(kept)


def head_length(text: str, size: int) -> int:
    """Characters that a clip with a head of `size` keeps of the text's beginning."""
    return _head_end(text, size)


def around(text: str, word: str, size: int) -> str:
    """About `size` characters around the first place where this lower-case word stands, cut between words."""
    place = text.lower().find(word)
    if place < 0:
        return ""
    start = 0 if place <= size // 2 else _forward(text, place - size // 2, place)
    return cut(text[start:].lstrip(), size) or cut(text[place:], size)


def cut(text: str, size: int) -> str:
    """The longest beginning of at most `size` characters that ends between words; empty if the first is longer."""
    return text[: _head_end(text, size)].rstrip()


def place_to_cut(text: str, at: int, low: int) -> int | None:
    """The last place in (low, at] that splits no word and no number; None where there is none."""
    return _back(text, at, low) or None


def without_first_run(text: str) -> str:
    """The text behind the first place where it can be cut."""
    return text[_forward(text, 1, len(text)) :]


def _pieces(text: str, start: int, end: int) -> Iterator[Span]:
    """The lines between two places, long ones cut between words; a run without a place to cut stays one piece."""
    while start < end:
        line = text.find("\n", start, end)
        stop = end if line < 0 else line
        while stop - start > PIECE:
            at = _back(text, start + PIECE, start) or _forward(text, start + PIECE, stop)
            yield Span(start, at)
            start = at
        if text[start:stop].strip():
            yield Span(start, stop)
        start = stop + 1


def _between_words(text: str, at: int) -> bool:
    """Whether a cut before `text[at]` splits no word and no number, Chinese numerals included."""
    if not 0 < at < len(text):
        return True
    left, right = text[at - 1], text[at]
    if left in _NUMERALS and right in _NUMERALS:
        return False
    return bool(_BOUNDARY.match(left) or _BOUNDARY.match(right))


def _back(text: str, at: int, low: int) -> int:
    """The last place to cut in (low, at], or 0."""
    return next((place for place in range(min(at, len(text)), low, -1) if _between_words(text, place)), 0)


def _forward(text: str, at: int, high: int) -> int:
    """The first place to cut in [at, high), or `high`."""
    while at < high and (found := _BOUNDARY.search(text, at, high)):
        for place in (found.start(), found.end()):
            if place >= at and _between_words(text, place):
                return place
        at = found.end()
    return high


def _head_end(text: str, size: int) -> int:
    """Where the head ends: at a line's end in its second half, else at white space, else nowhere."""
    if size >= len(text):
        return len(text)
    line = text.rfind("\n", size // 2, size + 1)
    return line if line > 0 else _back(text, size, 0) if size > 0 else 0


def _tail_start(text: str, size: int) -> int:
    """Where the tail begins: behind a line's end in its first half, else at white space, else nowhere."""
    low = len(text) - size
    if size <= 0:
        return len(text)
    if low <= 0:
        return 0
    line = text.find("\n", low - 1, low + size // 2)
    return line + 1 if line >= 0 else _forward(text, low, len(text))
