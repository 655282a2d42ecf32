"""Exact numbers: read from text, and shown as text without the noise of binary floats."""

import re
from decimal import Context, Decimal
from fractions import Fraction

EXACT_DIGITS = 30
"""A decimal fraction of up to so many digits is shown in full."""
ROUNDED_DIGITS = 15
"""Significant digits of what has no such form, as 1/3: as many as a float holds for certain."""

_NUMBER = re.compile(r"[-+]?(?:(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,3})?", re.ASCII)
_MAX_CHARACTERS = 100


def number_in(cell: str) -> Decimal | None:
    """The number that a cell holds, commas between groups of three digits taken out; None when it is none."""
    text = cell.strip().replace("−", "-")
    if len(text) > _MAX_CHARACTERS or not _NUMBER.fullmatch(text):
        return None
    return Decimal(text.replace(",", ""))


def shown(value: Fraction) -> str:
    """A number for people: integers in full, short decimals exactly, all else rounded to ROUNDED_DIGITS."""
    if value.denominator == 1:
        return str(value.numerator)
    exact = _terminating(value)
    if exact is not None and len(exact.as_tuple().digits) <= EXACT_DIGITS:
        return _plain(exact)
    rounding = Context(prec=ROUNDED_DIGITS)
    return _plain(rounding.divide(Decimal(value.numerator), Decimal(value.denominator)))


def _terminating(value: Fraction) -> Decimal | None:
    """The value as an exact decimal, or None when its digits never end."""
    rest, places = value.denominator, 0
    for prime in (2, 5):
        power = 0
        while rest % prime == 0:
            rest //= prime
            power += 1
        places = max(places, power)
    if rest != 1:
        return None
    digits = value.numerator * 10**places // value.denominator
    return Decimal((int(digits < 0), tuple(int(digit) for digit in str(abs(digits))), -places))


def _plain(number: Decimal) -> str:
    """Without trailing zeros; with an exponent only where the number would begin or end with many zeros."""
    magnitude = number.adjusted()
    if -7 <= magnitude <= 20:
        text = f"{number:f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    digits = "".join(map(str, number.as_tuple().digits)).rstrip("0")
    mantissa = f"{digits[0]}.{digits[1:]}".rstrip(".")
    return f"{'-' if number < 0 else ''}{mantissa}e{magnitude:+d}"
