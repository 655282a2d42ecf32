"""Chinese numerals from one to ninety-nine, as months and percentages use them."""

_DIGITS = {"一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}

NUMERAL = "(?:[一二两三四五六七八九]?十[一二三四五六七八九]?|[一二两三四五六七八九])"
"""A numeral, for use inside a regular expression."""


def numeral(text: str) -> int:
    """The value of a numeral that `NUMERAL` matches: 十二 is 12, 三十五 is 35."""
    tens, ten, ones = text.rpartition("十")
    return (_DIGITS.get(tens, 1) * 10 if ten else 0) + _DIGITS.get(ones, 0)
