"""Holds in which language the fixed sentences are said."""

import ast
import re
from dataclasses import fields
from string import Formatter

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from tests.graph.sources import ROOT, tree

from loopwright.language import HAN, Language, language, language_of
from loopwright.memory.wording import WORDING, Wording

SAID = re.compile(rf"^[^|\\\[]*[{HAN}]{{2,}}[^|\\]*$", re.DOTALL)
"""A text with Chinese words that is no regular expression."""
HALF_WIDTH = re.compile(rf"[{HAN}][,:;?!()]|[,:;?!()][{HAN}]")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("add them up", "en"),
        ("把它们加起来", "zh"),
        ("读取 sales.csv", "zh"),
        ("看 exports/2026-10/bank_3.csv", "zh"),
        ("打开 https://example.org/a/b/c.html", "zh"),
        ("Open src/工具/main.py and fix it", "en"),
        ("What does 会议纪要.txt say about the budget?", "en"),
        ("ファイルを読んで", "en"),
        ("", "en"),
        ("42", "en"),
    ],
)
def test_a_text_is_chinese_when_its_characters_outweigh_its_words(text: str, expected: Language) -> None:
    """A file name alone does not make a sentence Chinese, nor do kana."""
    assert language(text) == expected


def test_the_newest_user_message_decides() -> None:
    """What the model says does not count, nor what was said before."""
    said = [HumanMessage("read it"), HumanMessage("读取它"), AIMessage("I will read it now.")]
    assert language_of(said) == "zh"


@pytest.mark.parametrize("name", [field.name for field in fields(Wording)])
def test_both_languages_say_the_same_facts(name: str) -> None:
    """Each sentence has the same blanks in English and Chinese."""
    blanks = [{part[1] for part in Formatter().parse(getattr(WORDING[of], name)) if part[1]} for of in ("en", "zh")]
    assert blanks[0] == blanks[1]


def chinese_sentences() -> dict[str, str]:
    """Every Chinese text in the sources that is said to somebody, by file and line; patterns and code aside."""
    found = {}
    for source in (ROOT / "graph", ROOT / "studio", ROOT / "tools"):
        for path in source.rglob("*.py"):
            for node in ast.walk(tree(path)):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and SAID.search(node.value):
                    found[f"{path.relative_to(ROOT)}:{node.lineno}"] = node.value
    return found


def test_chinese_is_written_with_chinese_punctuation() -> None:
    """Beside a Chinese character a comma, colon, question mark or parenthesis is a full-width one."""
    sentences = chinese_sentences()
    assert len(sentences) > 200
    assert {where: text for where, text in sentences.items() if HALF_WIDTH.search(text)} == {}
