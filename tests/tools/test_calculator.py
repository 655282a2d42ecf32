"""The calculator: exact, bounded, and with no other error than its own."""

import time
from contextlib import suppress
from fractions import Fraction
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopwright_tools.arithmetic import evaluate
from loopwright_tools.calculator import calculator, calculator_tool
from loopwright_tools.exact import number_in, shown
from loopwright_tools.expression import parse
from loopwright_tools.notation import ExpressionError

SLOW = 1.0
"""Seconds of processor time that no expression may take, on a machine shared with others."""


def value(expression: str) -> str:
    """The result, without the expression before it."""
    return calculator(expression).rpartition(" = ")[2]


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("2+3", "5"),
        ("2 + 3 * 4", "14"),
        ("(2+3)*4", "20"),
        ("7/2", "3.5"),
        ("6/3", "2"),
        ("10/3*3", "10"),
        ("0.1+0.2", "0.3"),
        ("-7//2", "-4"),
        ("-7 % 3", "2"),
        ("17 % 5", "2"),
        ("17 % (2+3)", "2"),
        ("17 % sqrt(25)", "2"),
        ("5.5 % 2", "1.5"),
        ("2**10", "1024"),
        ("2**3**2", "512"),
        ("-2**2", "-4"),
        ("2**-1", "0.5"),
        ("0**0", "1"),
        ("+-+3", "-3"),
        ("1-2-3", "-4"),
        (".5 + 1.", "1.5"),
        ("1e3", "1000"),
        ("1.5E-2", "0.015"),
        ("007", "7"),
        ("1/3", "0.333333333333333"),
        ("2/3", "0.666666666666667"),
        ("0.1**50", "1e-50"),
        ("-1/3e30", "-3.33333333333333e-31"),
        ("123456789*1000000007", "123456789864197523"),
        ("9007199254740993 + 0", "9007199254740993"),
    ],
)
def test_arithmetic_is_exact(expression: str, result: str) -> None:
    """Python's operators and ranks; integers in full, decimals without noise, what never ends to 15 digits."""
    assert calculator(expression) == f"{expression} = {result}"


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("min(3, 1, 2)", "1"),
        ("max(3, 1, 2)", "3"),
        ("sum(1, 2, 3)", "6"),
        ("sum([1, 2, 3])", "6"),
        ("max([1, 234])", "234"),
        ("abs(-5)", "5"),
        ("sqrt(16)", "4"),
        ("sqrt(2.25)", "1.5"),
        ("sqrt(2)", "1.4142135623731"),
        ("sqrt(2)**2", "2"),
        ("16**0.5", "4"),
        ("8**(1/3)", "2"),
        ("round(2.5)", "3"),
        ("round(-2.5)", "-3"),
        ("round(2.675, 2)", "2.68"),
        ("round(1250, -2)", "1300"),
        ("round(10/3, 2) * 3", "9.99"),
    ],
)
def test_functions(expression: str, result: str) -> None:
    """The functions are min max sum abs sqrt round, lists in brackets too; halves are rounded away from zero."""
    assert value(expression) == result


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("15%", "0.15"),
        ("15 %", "0.15"),
        ("200 * 15%", "30"),
        ("15 % of 12345.6", "1851.84"),
        ("12345.6 * 15 / 100", "1851.84"),
        ("15% of (200+100)", "45"),
        ("10% of 20% of 300", "6"),
        ("-15% of 200", "-30"),
        ("(10+5)% * 20", "3"),
        ("100 * (1 - 20%)", "80"),
        ("1 + 5%", "1.05"),
        ("20% + 1", "1.2"),
        ("5% + 6%", "0.11"),
        ("50%%", "0.005"),
    ],
)
def test_a_percent_sign_without_an_operand_behind_it_means_percent(expression: str, result: str) -> None:
    """A percentage is its number divided by 100, "of" multiplies; before a number or parenthesis % is the remainder."""
    assert value(expression) == result


@pytest.mark.parametrize("expression", ["200 + 15%", "200 - 15%", "15% + 200", "5 % -3", "1 + 5% + 5%"])
def test_a_number_plus_a_percentage_is_refused(expression: str) -> None:
    """People read 230 in "200 + 15%", parsers 200.15: the error names both ways to write it."""
    with pytest.raises(ExpressionError, match=r"unclear: write 200 \* \(1 [+-] 15%\).*or 200 [+-] 0\.15"):
        calculator(expression)


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("（３＋４）×５÷２", "17.5"),
        ("５－３", "2"),
        ("5−3", "2"),
        ("5–3", "2"),
        ("3⋅4", "12"),
        ("max（1，2）", "2"),
        ("１５％ of ３００", "45"),
        ("2\u3000+\n3", "5"),
    ],
)
def test_full_width_and_mathematical_signs(expression: str, result: str) -> None:
    """Digits and signs as a Chinese keyboard or a typesetter gives them are the same as ASCII's."""
    assert value(expression) == result


@pytest.mark.parametrize("expression", ["2+3=", "2+3 =", "2+3 = ?", "2+3＝？", "  2+3 "])
def test_the_equals_sign_of_a_question_is_tolerated(expression: str) -> None:
    """An equals sign at the end, with or without a question mark, is left out of the answer."""
    assert calculator(expression) == "2+3 = 5"


@pytest.mark.parametrize(
    ("expression", "result"), [("1,234.5 + 1", "1235.5"), ("1,234,567 * 2", "2469134"), ("2*(1,000,000)", "2000000")]
)
def test_thousand_separators_that_can_mean_nothing_else(expression: str, result: str) -> None:
    """Two groups, or a group and a decimal point, outside a function."""
    assert value(expression) == result


@pytest.mark.parametrize(
    ("expression", "advice"),
    [
        ("1,234 + 1", "write 1234 if the comma parts thousands, 1.234 if decimals"),
        ("max(1,234)", "write 1234 for one number, or 1, 234 for several"),
        ("sum(1,200,300)", "write 1200300 for one number, or 1, 200, 300 for several"),
        ("max((1,234.5), 2)", "write 1234.5 for one number"),
        ("12,34", "write thousands without, decimals with a point"),
        ("1,234,5", "1,234 is unclear"),
    ],
)
def test_other_commas_between_digits_are_refused(expression: str, advice: str) -> None:
    """A comma that may part thousands, decimals or arguments gets an error that says how to write each."""
    with pytest.raises(ExpressionError) as error:
        calculator(expression)
    assert advice in str(error.value)


def test_commas_between_arguments() -> None:
    """Commas that cannot part thousands need no blank behind them, and parentheses after "of" are no function's."""
    assert value("max(1,2)") == "2"
    assert value("max(10,2000)") == "2000"
    assert value("max(0,100)") == "100"
    assert value("15% of (1,000.5)") == "150.075"


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("", "empty"),
        ("=", "empty"),
        ("True", "'True' is not known"),
        ("False + 1", "'False' is not known"),
        ("x + 1", "'x' is not known: write numbers"),
        ("nan", "'nan' is not known"),
        ("inf", "'inf' is not known"),
        ("pi", "functions are abs, max, min, round, sqrt, sum"),
        ("17 % x", "'x' is not known"),
        ("(1).real", r"'\.' has no place"),
        ("os.system('ls')", r"'\.' has no place"),
        ("__import__(1)", "'__import__' is not known"),
        ("lambda: 1", "':' has no place"),
        ("'a' * 3", "no place in a calculation"),
        ("[1, 2]", r"'\[' is misplaced"),
        ("1 if 1 else 2", "'if' is misplaced"),
        ("0x10", "'x10' is misplaced: put an operator before it"),
        ("1_000", "'_000' is misplaced"),
        ("1j", "'j' is misplaced"),
        ("1 2", "'2' is misplaced: put an operator"),
        ("100 000", "'000' is misplaced"),
        ("2(3)", r"'\(' is misplaced: put an operator"),
        ("1.2.3", r"'\.3' is misplaced"),
        ("1 +", "ends where a number"),
        ("(1 + 2", r"A \) is missing"),
        ("sum([1, 2)", r"'\)' is misplaced"),
        ("sum([1, 2]", r"A \) is missing"),
        ("1 + 2)", r"'\)' is misplaced"),
        ("* 3", r"'\*' is misplaced"),
        ("max()", r"'\)' is misplaced"),
        ("max", r"such as max\(2\)"),
        ("3 of 5", "'of' is misplaced"),
        ("of 3", "'of' is not known"),
        ("abs([1])", r"'\[' is misplaced"),
        ("2^3", r"\*\* for a power"),
        ("2 == 2", "compares"),
        ("2 < 3", "compares"),
        ("√16", r"sqrt\(...\)"),
        ("5²", "'²' has no place"),
        ("½", "'½' has no place"),
        ("٣ + 1", "has no place"),
        ("$5", r"'\$' has no place"),
        ("\ud800", "has no place"),
        ("1/0", "Division by zero"),
        ("1//0", "Division by zero"),
        ("1 % 0", "Division by zero"),
        ("0**-1", "Division by zero"),
        ("(-8)**0.5", "no real power"),
        ("(-8)**(1/3)", "no real power"),
        ("sqrt(-1)", "no real square root"),
        ("sqrt(1, 2)", "takes one number"),
        ("round(1, 2, 3)", "a number and the places"),
        ("round(1, 0.5)", "whole places"),
        ("round(1, 10**9)", "whole places"),
    ],
)
def test_what_is_no_arithmetic_is_refused(expression: str, message: str) -> None:
    """Names, booleans, attributes, strings, other notations and undefined results get one sentence that helps."""
    with pytest.raises(ExpressionError, match=message) as error:
        calculator(expression)
    assert str(error.value).endswith(".")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "expression",
    [
        "2**10**9",
        "9**9**9**9",
        "(-2)**10**9",
        "2**(10**900)",
        "10**1000",
        "(10**600)*(10**600)",
        "99999**99999",
        "1e1001",
        "1e999999999",
        "1e-999999999",
        "0.1**100000",
        "0.1**2000",
        "(1/3)**10**9",
        "1.5**10**900",
        "(1+1e-300)**10**600",
        "10**900 / 3 * 10**200",
        "(" * 500 + "1" + ")" * 400,
        "-" * 999 + "1",
        "2" + "**1" * 300,
        "abs(" * 200 + "1" + ")" * 199,
        "1+" * 600 + "1",
        "9" * 1001,
    ],
)
def test_what_costs_too_much_is_refused_before_it_is_computed(expression: str) -> None:
    """Results and steps too large or small, deep nesting and long texts are refused within a moment."""
    start = time.process_time()
    with pytest.raises(ExpressionError):
        calculator(expression)
    assert time.process_time() - start < SLOW


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("1**10**900", "1"),
        ("(-1)**(10**9+1)", "-1"),
        ("0**10**900", "0"),
        ("1e1000 * 1e-1000", "1"),
        ("(1 + 0.05/12)**360", "4.46774431400613"),
        ("1.00037**360 * 250000", "285612.581377941"),
        ("1.0001**100000", "22015.4560485522"),
        ("+".join(["1"] * 500), "500"),
        ("2**3300 / 2**3299", "2"),
    ],
)
def test_what_is_large_on_the_way_only_is_computed(expression: str, result: str) -> None:
    """Powers of 0 and 1 cost nothing; fractions whose exact form is too long go on with 50 digits."""
    assert value(expression) == result


def test_a_thousand_digits_are_shown() -> None:
    """Integers are exact up to the limit that the error names."""
    assert value("10**999 + 1") == "1" + "0" * 998 + "1"


Case: TypeAlias = tuple[str, Fraction | None]
"""An expression, and what exact arithmetic gives; None where that is undefined."""

_numbers = st.one_of(
    st.integers(0, 10**12).map(str),
    st.decimals(0, 10**6, places=3, allow_nan=False, allow_infinity=False).map(lambda d: f"{d:f}"),
)


def _combined(parts: st.SearchStrategy[Case]) -> st.SearchStrategy[Case]:
    """Operators over others."""

    def operation(left: Case, sign: str, right: Case) -> Case:
        text = f"({left[0]}){sign}({right[0]})"
        if left[1] is None or right[1] is None or (sign in ("/", "//", "%") and right[1] == 0):
            return text, None
        one, other = left[1], right[1]
        results = {"+": one + other, "-": one - other, "*": one * other}
        if sign in results:
            return text, results[sign]
        return text, {"/": one / other, "//": Fraction(one // other), "%": one % other}[sign]

    return st.one_of(
        st.builds(operation, parts, st.sampled_from(["+", "-", "*", "/", "//", "%"]), parts),
        parts.map(lambda part: (f"-({part[0]})", None if part[1] is None else -part[1])),
    )


@settings(deadline=None)
@given(st.recursive(_numbers.map(lambda text: (text, Fraction(text))), _combined, max_leaves=12))
def test_agrees_with_the_arithmetic_of_fractions(case: Case) -> None:
    """Any nesting of the operators gives exactly the fraction that Python's own arithmetic gives, or is undefined."""
    text, expected = case
    if expected is None:
        with pytest.raises(ExpressionError):
            evaluate(parse(text))
    else:
        assert evaluate(parse(text)) == expected


@settings(deadline=None)
@given(st.text(alphabet="0123456789+-*/%().,eE ×÷（）％minaxsurodqtbf[]=", max_size=60) | st.text(max_size=60))
def test_raises_nothing_but_its_own_error_and_takes_no_time(expression: str) -> None:
    """Whatever the model writes, there is a result or an ExpressionError, within a moment."""
    start = time.process_time()
    with suppress(ExpressionError):
        assert " = " in calculator(expression)
    assert time.process_time() - start < SLOW


@given(st.fractions())
def test_a_shown_number_is_the_number(number: Fraction) -> None:
    """What is shown equals the number to 14 digits, and exactly where it is an integer or a short decimal."""
    text = shown(number)
    assert abs(Fraction(text) - number) <= abs(number) / 10**14
    if number.denominator in (1, 2, 4, 5, 8, 10, 100) and abs(number) < 10**20:
        assert Fraction(text) == number


@given(st.decimals(allow_nan=False, allow_infinity=False, places=4, min_value=-(10**9), max_value=10**9).map(str))
def test_a_decimal_is_shown_without_noise(written: str) -> None:
    """A decimal comes back with the digits it was written with, zeros at its end aside."""
    text = shown(Fraction(written))
    assert Fraction(text) == Fraction(written)
    assert "." not in text or not text.endswith("0")


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        ("12", "12"),
        (" -1.50 ", "-1.5"),
        ("−3", "-3"),
        (".5", "0.5"),
        ("1,234,567.5", "1234567.5"),
        ("1e3", "1000"),
        ("1,5", None),
        ("12,34", None),
        ("", None),
        ("-", None),
        ("$5", None),
        ("5 %", None),
        ("NaN", None),
        ("Infinity", None),
        ("1_000", None),
        ("1e9999", None),
        ("9" * 101, None),
    ],
)
def test_numbers_in_cells(cell: str, number: str | None) -> None:
    """Plain numbers, with commas between groups of three; nothing that only might be one."""
    found = number_in(cell)
    assert (None if found is None else shown(Fraction(found))) == number


def test_the_tool_takes_an_expression_and_nothing_else() -> None:
    """Through the tool the same text comes back, and an argument that it does not know is an error."""
    tool = calculator_tool()
    assert tool.invoke({"expression": "2+3"}) == "2+3 = 5"
    with pytest.raises(ValueError, match="precision"):
        tool.invoke({"expression": "2+3", "precision": 2})
