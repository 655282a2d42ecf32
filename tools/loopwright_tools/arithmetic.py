"""Computes the tree of a calculation exactly, at a cost that is bounded before each operation."""

import math
from collections.abc import Callable
from decimal import Context, Decimal, DecimalException, DivisionByZero, InvalidOperation, Overflow, Underflow
from fractions import Fraction

from loopwright_tools.expression import Call, Chain, Negative, Node, Number, Percent, Power, is_percentage
from loopwright_tools.notation import ExpressionError

MAX_DIGITS = 1_000
"""Digits of a number, before or behind the point, with which the calculator still works."""
MAX_BITS = 3_600
"""The same in bits, with room for 50 more digits: what bounds the cost of the next operation."""
MAX_PLACES = 100
"""Places that round() takes, on either side of the point."""
MAX_ROUNDED_EXPONENT = 10**9
"""Largest exponent of a power that is not exact: with 50 digits, at least 40 of the result are right."""

_ROUNDED = Context(
    prec=50, Emax=MAX_DIGITS, Emin=-MAX_DIGITS, traps=[Overflow, Underflow, InvalidOperation, DivisionByZero]
)
_TOO_LARGE = f"A number gets larger than {MAX_DIGITS} digits, which is not computed: use smaller numbers."


def evaluate(node: Node) -> Fraction:
    """The value of a tree: exact, but roots, fractional powers and fractions of over 1,000 digits keep 50 digits.

    Raises ExpressionError when there is no real value, or it is too large or too small.
    """
    match node:
        case Number(value):
            return _bounded(value)
        case Percent(operand):
            return _bounded(evaluate(operand) / 100)
        case Negative(operand):
            return -evaluate(operand)
        case Power(base, exponent):
            return _power(evaluate(base), evaluate(exponent))
        case Chain():
            return _chain(node)
        case Call(name, arguments):
            return _call(name, [evaluate(argument) for argument in arguments])


def _chain(chain: Chain) -> Fraction:
    value = evaluate(chain.first)
    percentage = is_percentage(chain.first)
    for sign, node in chain.steps:
        right = evaluate(node)
        # "200 + 15%" is 230 to most people and 200.15 to a parser; with 1, as in "1 - 15%", both are the same.
        if sign in ("+", "-") and percentage != is_percentage(node) and (right if percentage else value) != 1:
            raise ExpressionError(
                f"{sign} between a number and a percentage is unclear: write 200 * (1 {sign} 15%) for a change by "
                f"15 percent, or 200 {sign} 0.15."
            )
        percentage = percentage and is_percentage(node)  # 5% + 6% goes on as one
        value = _bounded(_operate(sign, value, right))
    return value


def _operate(sign: str, left: Fraction, right: Fraction) -> Fraction:
    if sign in ("/", "//", "%") and right == 0:
        raise ExpressionError("Division by zero has no result: check the divisor.")
    match sign:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/":
            return left / right
        case "//":
            return Fraction(left // right)
        case _:
            return left % right


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    if base == 0 and exponent < 0:
        raise ExpressionError("Division by zero has no result: 0 cannot have a negative exponent.")
    if base < 0 and exponent.denominator != 1:
        raise ExpressionError("A negative number has no real power with a fractional exponent: check the base.")
    if exponent == Fraction(1, 2):
        return _root(base)
    bits = max(_bits(base.numerator), _bits(base.denominator)) * abs(exponent)
    if exponent.denominator == 1 and bits <= MAX_BITS:
        return _bounded(base ** int(exponent))
    if exponent.denominator == 1 and base.denominator == 1 and exponent > 0:
        raise ExpressionError(_TOO_LARGE)
    if abs(exponent) > MAX_ROUNDED_EXPONENT:
        raise ExpressionError("The exponent is too large to compute with: use a smaller one.")
    return _rounded(lambda: _ROUNDED.power(_decimal(base), _decimal(exponent)))


def _bits(number: int) -> int:
    """Bits that each multiplication with the number adds at least: none for 0 and 1."""
    return max(abs(number).bit_length() - 1, 0)


def _root(value: Fraction) -> Fraction:
    if value < 0:
        raise ExpressionError("A negative number has no real square root: check the number.")
    exact = Fraction(math.isqrt(value.numerator), math.isqrt(value.denominator))
    return exact if exact * exact == value else _rounded(lambda: _ROUNDED.sqrt(_decimal(value)))


def _call(name: str, values: list[Fraction]) -> Fraction:
    match name:
        case "min":
            return min(values)
        case "max":
            return max(values)
        case "sum":
            total = Fraction(0)
            for value in values:
                total = _bounded(total + value)
            return total
        case "round":
            return _round(*_arguments(name, values, 2))
        case _:
            [value] = _arguments(name, values, 1)
            return abs(value) if name == "abs" else _root(value)


def _arguments(name: str, values: list[Fraction], most: int) -> list[Fraction]:
    if len(values) > most:
        raise ExpressionError(
            f"{name} takes {'one number' if most == 1 else 'a number and the places to keep'}: remove the others."
        )
    return values


def _round(value: Fraction, places: Fraction = Fraction(0)) -> Fraction:
    """Halves away from zero, as taught in school and done by spreadsheets; Python's own rounds them to even."""
    if places.denominator != 1 or abs(places) > MAX_PLACES:
        raise ExpressionError(f"round takes whole places from -{MAX_PLACES} to {MAX_PLACES}: such as round(2.345, 2).")
    scale = Fraction(10) ** int(places)
    size = Fraction(math.floor(abs(value) * scale + Fraction(1, 2))) / scale
    return size if value >= 0 else -size


def _bounded(value: Fraction) -> Fraction:
    """The value, its digits cut to 50 where a fraction's exact form got too long to go on with."""
    if max(value.numerator.bit_length(), value.denominator.bit_length()) <= MAX_BITS:
        return value
    if value.denominator == 1:
        raise ExpressionError(_TOO_LARGE)
    return _rounded(lambda: _decimal(value))


def _decimal(value: Fraction) -> Decimal:
    return _ROUNDED.divide(Decimal(value.numerator), Decimal(value.denominator))


def _rounded(compute: Callable[[], Decimal]) -> Fraction:
    """What a computation in 50 digits comes to."""
    try:
        return Fraction(compute())
    except Underflow:
        raise ExpressionError(
            f"A number gets smaller than 1e-{MAX_DIGITS}, which is not computed: use larger numbers."
        ) from None
    except DecimalException:
        raise ExpressionError(_TOO_LARGE) from None
