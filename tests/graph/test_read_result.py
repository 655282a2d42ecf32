"""Paging through a stored result: by a short ref that survives a resume, and never inside a word."""

import re
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool

from loopwright import Agent, Settings, tool_policy
from loopwright.builtins.read_result import PAGE_CHARACTERS, page
from loopwright.settings import ModelSettings, ToolSettings
from loopwright.testing import ScriptedModel, call, reply

WORDS = st.sampled_from(
    ["1944", "W3664", "12,340.50", "naïve", "价格", "三百二十", "x" * 90, "，", "会议纪要" * 20, "３万"]
)
TEXTS = st.lists(WORDS | st.sampled_from([" ", "\n", "  "]), min_size=1, max_size=120).map(
    lambda parts: "".join(parts) * 40
)
HEAD = re.compile(r"\[characters (\d+)-(\d+) of (\d+)(?:; read on with offset=(\d+)|; this is the end)\]\n")
SPACED = re.compile(r"[^\s\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff01-\uff0f\uff1a-\uff20]+")
NUMBER = re.compile(r"[0-9０-９〇零一二三四五六七八九十百千万亿点.,，]+")


def short(found: list[str]) -> set[str]:
    """The words that fit a page; a longer one has to be cut."""
    return {word for word in found if len(word) < PAGE_CHARACTERS}


def pieces(text: str) -> set[str]:
    """The words and numbers of a text."""
    return {*SPACED.findall(text), *NUMBER.findall(text)}


@given(TEXTS, st.integers(min_value=0, max_value=30_000))
def test_a_page_holds_whole_words_only(text: str, offset: int) -> None:
    """From any offset, every word and number of a page is one of the text's, also where there are no spaces."""
    whole = pieces(text)
    if any(len(word) >= PAGE_CHARACTERS // 2 for word in whole):
        return
    shown = HEAD.sub("", page(text, offset), count=1)
    assert pieces(shown) <= whole


def read_through(text: str) -> str:
    """What a reader sees who follows the offsets that the pages name, each of which has to lie further on."""
    parts, offset = [], 0
    while True:
        shown = page(text, offset)
        found = HEAD.match(shown)
        assert found is not None
        assert int(found[1]) == offset
        parts.append(shown[found.end() :])
        if found[4] is None:
            break
        assert int(found[4]) > offset
        offset = int(found[4])
    return "".join(parts)


@given(TEXTS)
def test_pages_in_a_row_are_the_text(text: str) -> None:
    """Following the offsets that the pages name reads the whole text once, in order, and ends."""
    assert read_through(text) == text


def test_a_word_longer_than_a_page_is_read_to_its_end() -> None:
    """Pages of one endless word, also with a number before it, each begin where the last one ended."""
    for text in ("1944" * 2_500, "1944" * 3 + "x" * 9_000, "a " + "x" * 9_000):
        assert read_through(text) == text


def test_odd_offsets() -> None:
    """An offset inside a word begins at the word, one behind the end is the end, and one endless word is cut."""
    text = "alpha beta 1944 gamma"
    assert page(text, 13).endswith("]\n1944 gamma")
    assert page(text, 999).startswith("[characters 21-21 of 21; this is the end]")
    assert len(page("x" * 50_000, 10_000)) < PAGE_CHARACTERS + 100


def test_a_result_is_read_on_after_a_resume(tmp_path: Path) -> None:
    """The marker names a short ref and the next offset; another process of the same thread reads on from there."""

    @tool
    def dump() -> str:
        """Dump much."""
        return "\n".join(f"line {n} of a long log" for n in range(3_000))

    settings = Settings(model=ModelSettings(retry_delay=0), tools=ToolSettings(max_result_tokens=300))
    url = f"sqlite:///{tmp_path}/runs.db"
    given_tools = [tool_policy(dump, effect="read")]
    Agent(ScriptedModel([reply("", call("dump")), "ok"]), given_tools, settings=settings, storage=url).run(
        "x", thread="t"
    )

    def follow(messages: Any) -> Any:
        text = next(m.text for m in messages if isinstance(m, ToolMessage))
        found = re.search(r"read_result\(ref='(\w+)', offset=(\d+)\)", text)
        assert found is not None
        assert len(found[1]) == 9
        head = text[: text.index("\n[…")]
        return reply(head[-40:], call("read_result", ref=found[1], offset=int(found[2])))

    again = Agent(ScriptedModel([follow, "ok"]), given_tools, settings=settings, storage=url)
    result = again.run("go on", thread="t")
    first, second = [m.text for m in result.messages if isinstance(m, ToolMessage)]
    last_line = first[: first.index("\n[…")].splitlines()[-1]
    number = int(last_line.split()[1])
    assert f"line {number + 1} of a long log" in second
    assert f"line {number - 1} of a long log" not in second
