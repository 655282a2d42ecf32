"""Finds the expression that a sentence asks to compute; the computing is the calculator's."""

import re
import unicodedata

from loopwright.language import HAN
from loopwright.models.offline.numerals import NUMERAL, numeral

PREVIOUS = "@"
"""Stands in an expression for the number that an earlier part of the task brings."""

_NOUNS = "total|sum|result|average|mean|amount|figure|number|value|count|minimum|maximum|product|difference"
_REFERENCE = re.compile(
    rf"(?:\b(?:(?:the|this|that)\s+)?(?:{_NOUNS})|\b(?:it|that|this))(?:\s+you\s+\w+)?\b(?!\s*\()"
    "|(?:这个|该|其)?(?:总和|总额|总数|合计|总计|结果|平均值|平均数|金额)|它|其"
)
_NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?"
_ATOM = rf"(?:{_NUMBER}|{PREVIOUS}|\([^()]*\))"
_PERCENT_OF = re.compile(rf"({_NUMBER})\s*(?:%|per\s?cent)\s*(?:of|from)\s*({_ATOM})", re.I)
_PERCENT_OF_ZH = re.compile(rf"({_ATOM})\s*的\s*(?:({_NUMBER})\s*%|百分之\s*({_NUMBER}|{NUMERAL}))")
_WORDS = (
    (r"to the power of", "**"), (r"plus|加上|加", "+"), (r"minus|减去|减", "-"),
    (r"times|multiplied by|乘以|乘", "*"), (r"divided by|除以", "/"),
)  # fmt: skip
_GOING_ON = re.compile(
    r"^\s*(?:by\s+)?(?=(?:times|multiplied by|divided by|plus|minus|乘以|除以|加上|减去)\s*[\d(])", re.I
)
"""Where a clause begins with an operation, and so goes on from the number before: "then times 2"."""
_CALL = r"(?:sqrt|abs|min|max|round|sum)\("
_EXPRESSION = re.compile(rf"(?:{_CALL}|[-+(\d{PREVIOUS}])(?:{_CALL}|[-\d\s.,()+*/%^×÷−{PREVIOUS}])*")
_OPERATION = re.compile(rf"[\d){PREVIOUS}%]\s*(?:\*\*|[-+*/%^×÷−])\s*[-+]?(?:[\d({PREVIOUS}]|{_CALL})|{_CALL}")
_DATE = re.compile(r"\d{4}-\d{1,2}(?:-\d{1,2})?(?!\d)|\d{1,2}:\d{2}")
_CUE = re.compile(
    r"\b(?:what|what's|calculate|compute|how much|evaluate|solve|tell|give|work out|take|is)\b|[=?]"
    "|计算|算|等于|多少|是几|求|告诉|给我",
    re.I,
)


def expression_in(text: str) -> str | None:
    """The arithmetic asked for, in the calculator's notation, or None; `@` is the number that came before."""
    plain = _normalised(text)
    best = ""
    for match in _EXPRESSION.finditer(plain):
        candidate = match[0].strip(" ,.\n")
        candidate = re.sub(r"[\s*/+−×÷^-]+$", "", candidate)
        if _OPERATION.search(candidate) and candidate.count("(") == candidate.count(")") and len(candidate) > len(best):
            best = candidate
    if not best or _DATE.search(best):
        return None
    words = re.search(rf"[A-Za-z{HAN}]", plain.replace(best, " "))
    asked = PREVIOUS in best or _CUE.search(text) or not words
    return _tidy(best) if asked else None


def percent_of(text: str) -> tuple[str, str] | None:
    """The percentage, and the words that say of what: ("15", "the March rows in sales.csv")."""
    plain = unicodedata.normalize("NFKC", text)
    if english := re.search(rf"({_NUMBER})\s*(?:%|per\s?cent)\s*of\s+(\D.*)", plain, re.I | re.S):
        return english[1], english[2]
    chinese = re.search(rf"(.*[^\d\s])\s*的\s*(?:({_NUMBER})\s*%|百分之\s*({_NUMBER}|{NUMERAL}))", plain, re.S)
    return (_percentage(chinese[2], chinese[3]), chinese[1]) if chinese else None


def _normalised(text: str) -> str:
    """Half-width signs, words for operators and percentages as signs, references as `@`."""
    plain = _REFERENCE.sub(PREVIOUS, unicodedata.normalize("NFKC", text))
    plain = re.sub(rf"(?:multiply|divide)\s+({PREVIOUS})\s+by", _verb, plain, flags=re.I)
    plain = _GOING_ON.sub(PREVIOUS, plain)
    plain = re.sub(
        r"(?:the )?square root of\s*(\d+(?:\.\d+)?)|(\d+(?:\.\d+)?)\s*的平方根", r"sqrt(\1\2)", plain, flags=re.I
    )
    for words, sign in _WORDS:
        plain = re.sub(rf"(?<=[\d)%{PREVIOUS}])\s*(?:{words})\s*(?=[\d(-]|{_CALL})", f" {sign} ", plain, flags=re.I)
    plain = _PERCENT_OF.sub(lambda m: f"({m[2]} * {m[1]} / 100)", plain)
    return _PERCENT_OF_ZH.sub(lambda m: f"({m[1]} * {_percentage(m[2], m[3])} / 100)", plain)


def _verb(match: re.Match[str]) -> str:
    return f"{match[1]} {'*' if match[0][0] in 'mM' else '/'}"


def _percentage(digits: str | None, spelled: str | None) -> str:
    text = digits or spelled or ""
    return text if text[:1].isdigit() else str(numeral(text))


def _tidy(expression: str) -> str:
    """`^` as `**`; thousand separators out where no function's comma can be meant; an outer pair of parentheses off."""
    plain = re.sub(r"\s+", " ", expression.replace("^", "**"))
    if not re.search(_CALL, plain):
        plain = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", plain)
    inner = re.fullmatch(r"\(([^()]*)\)", plain)
    return inner[1] if inner else plain
