"""Holds how texts are shortened: never inside a word or a number, keeping what the task speaks of."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright.memory import clip, rare_words
from loopwright.memory.clipping import cut, matching, shorten, terms

WORDS = st.sampled_from(
    ["1944", "W3664", "total", "12,340.50", "naïve", "четыре", "价格", "三百二十", "x" * 90, "，", "３万"],
)
TEXTS = st.lists(WORDS | st.sampled_from([" ", "\n", "  "]), max_size=300).map("".join)
MARKER = re.compile(r"\[…[^\]]*\]")
SPACED = re.compile(r"[^\s\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff01-\uff0f\uff1a-\uff20]+")
NUMBER = re.compile(r"[0-9０-９〇零一二三四五六七八九十百千万亿点.,，]+")


@given(TEXTS, st.integers(0, 400), st.integers(0, 400), st.sets(st.sampled_from(["1944", "w3664", "total", "价格"])))
def test_every_word_and_number_of_a_clip_is_a_whole_one(text: str, head: int, tail: int, words: set[str]) -> None:
    """A word or number in the clip stands in the original, and not as a piece of a longer one."""
    rest = MARKER.sub("\n", clip(text, head, tail, words))
    assert set(SPACED.findall(rest)) <= set(SPACED.findall(text))
    assert set(NUMBER.findall(rest)) <= set(NUMBER.findall(text))


@given(TEXTS, st.integers(0, 400), st.integers(0, 400))
def test_a_clip_is_bounded_and_never_longer(text: str, head: int, tail: int) -> None:
    """Head, tail, half as much again in lines, and one marker: no more; and no more than the text."""
    short = clip(text, head, tail, {"1944", "total", "价格"})
    assert len(short) <= len(text)
    assert short == text or len(short) <= head + tail + (head + tail) // 2 + 60


def test_head_tail_and_matching_lines_stay() -> None:
    """A line that shares a rare word with the user's message survives in the middle; the marker counts the rest."""
    lines = [f"entry {n}: nothing special here" for n in range(200)]
    lines[120] = "entry 120: invoice INC-8841 is overdue"
    short = clip("\n".join(lines), 100, 100, rare_words(["What is the state of INC-8841?"]))
    assert short.startswith("entry 0:")
    assert short.endswith("entry 199: nothing special here")
    assert "entry 120: invoice INC-8841 is overdue" in short
    assert re.search(r"\n\[… [\d,]+ characters left out …\]\n", short)


def test_the_marker_carries_the_hint_and_the_language() -> None:
    """What the caller says about reading on stands in the marker."""
    text = "word " * 500
    assert "characters left out; read on with ref=a1 …]" in clip(text, 50, 50, set(), hint="read on with ref=a1")
    assert "省略" in clip(text, 50, 50, set(), language="zh")


def test_a_run_without_a_place_to_cut_is_left_out_whole() -> None:
    """A text that is one long word leaves only the marker, which says so."""
    assert clip("x" * 5_000, 100, 100, set()) == "[… 5,000 characters left out …]"


def test_the_marker_of_an_earlier_clip_survives_the_next() -> None:
    """A shortened result that is shortened again still says how to read on."""
    first = clip("some words here\n" * 500, 600, 600, set(), hint="read on with ref=a1")
    assert "ref=a1" in clip(first, 150, 150, set())


@pytest.mark.parametrize("text", ["", "short", "一二三", "a" * 25])
def test_a_short_text_stays(text: str) -> None:
    """What would not get shorter is returned as it is."""
    assert clip(text, 10, 10, set()) == text


def test_kept_pieces_are_numbered_once_and_for_all() -> None:
    """The pieces that a view stores give the same clip again, whatever words come up later."""
    text = "\n".join(f"line {n} of the log" for n in range(100))
    kept = matching(text, 60, 60, 60, {"50"})
    assert "line 50 of the log" in shorten(text, 60, 60, kept)
    assert shorten(text, 60, 60, [*kept, 9_999]) == shorten(text, 60, 60, kept)


def test_words_are_rare_ones_and_chinese_ones_are_pairs() -> None:
    """Short and common words find no lines; numbers, ids and pairs of characters do."""
    assert rare_words(["the total of W36 in 2023"]) == {"total", "w36", "2023"}
    assert terms("读取预算") == {"读取", "取预", "预算"}


def test_a_beginning_ends_between_words() -> None:
    """`cut` gives up the word that does not fit."""
    assert cut("the year 1944 was", 11) == "the year"
    assert cut("共三百二十元", 3) == "共"
