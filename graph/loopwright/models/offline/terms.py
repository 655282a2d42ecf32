"""The words that a line is to be found by."""

import re

from loopwright.language import HAN
from loopwright.models.offline.paths import without_files

_QUESTION_WORDS = """
a about all many much and any are as at be by can contain containing contains could cite do does exactly exact file
find for from give has have how i in is it its line lines me mention mentioned mentions mentioning my of on open or our
please quote read say says search see show tell text that the their them there this to us was we what which where who
whose with word words you your look first then also
"""
_STOP = frozenset(_QUESTION_WORDS.split())
_QUOTED = re.compile(r"[\"“「‘'`]([^\"”」’'`\n]+)[\"”」’'`]")
_CHINESE_TERM = (
    re.compile(
        rf"(?:关于|提到|有关|含有|包含|查找|搜索)\s*(?:了|过)?\s*([\w{HAN}\s]+?)\s*(?:的|那|这|一行|行|内容|怎么说|$|[,，。？?])"
    ),
    re.compile(rf"\s*(?:里面?|中|对|就)?\s*([\w{HAN}]+?)\s*(?:是|的)?(?:怎么说|怎么写|说了什么|是什么)"),
)


def search_terms(clause: str) -> tuple[str, ...]:
    """The words that a line must hold, lower-case, without the question's own; quoted text is one term."""
    text = without_files(clause)
    if quoted := _QUOTED.findall(text):
        return tuple(part.lower() for part in quoted)
    for pattern in _CHINESE_TERM:
        if match := pattern.search(text):
            return tuple(part.lower() for part in re.split(r"[和与及、\s]+", match[1]) if part)
    words = re.findall(r"[\w'-]+", re.sub(f"[{HAN}]+", lambda m: f" {m[0]} ", text).lower())
    return tuple(word for word in words if word not in _STOP and not _is_chinese_filler(word))


def _is_chinese_filler(word: str) -> bool:
    return bool(re.fullmatch("[读取打开查看显示请帮我的里中引用一行哪那这并把关于找出]+", word))


def holds(line: str, term: str) -> bool:
    """Whether the line holds the term: Chinese anywhere, others as a whole word, plural or not."""
    lowered = line.lower()
    if re.search(f"[{HAN}]", term):
        return term in lowered
    stem = term[:-1] if len(term) > 3 and term.endswith("s") else term
    return re.search(rf"(?<!\w){re.escape(stem)}(?:s|es)?(?!\w)", lowered) is not None
