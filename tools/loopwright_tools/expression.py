"""From the tokens of a calculation to a tree; nothing is computed here, and none of Python's own syntax is used."""

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from loopwright_tools.notation import FUNCTIONS, LISTS, ExpressionError, Token, tokens

MAX_DEPTH = 40
"""Parentheses, signs and powers within each other."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number as it was written."""

    value: Fraction


@dataclass(frozen=True, slots=True)
class Percent:
    """A percentage: its operand divided by a hundred."""

    operand: "Node"


@dataclass(frozen=True, slots=True)
class Negative:
    """Minus its operand."""

    operand: "Node"


@dataclass(frozen=True, slots=True)
class Power:
    """A base and its exponent."""

    base: "Node"
    exponent: "Node"


@dataclass(frozen=True, slots=True)
class Chain:
    """Operators of one rank from left to right: flat, so that a long sum is not a deep tree."""

    first: "Node"
    steps: tuple[tuple[str, "Node"], ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A function and its arguments, at least one."""

    name: str
    arguments: tuple["Node", ...]


Node: TypeAlias = Number | Percent | Negative | Power | Chain | Call


def parse(expression: str) -> Node:
    """The tree of an expression. Raises ExpressionError with a sentence that says how to write it.

    Python's ranks: `**` before signs before `* / // %` before `+ -`. A `%` with no operand behind it is a percentage
    ("15%", "200 * 15%"), else the remainder ("17 % 5"); "15% of 80" is 15% * 80.
    """
    parser = _Parser(list(tokens(expression)))
    tree = parser.sum()
    parser.expect_end()
    return tree


class _Parser:
    """Recursive descent, one method a rank; each way down passes `_signed`, which counts the depth."""

    def __init__(self, given: list[Token]) -> None:
        self._tokens = given
        self._at = 0
        self._depth = 0

    def sum(self) -> Node:
        first = self._product()
        steps = []
        while sign := self._take("+", "-"):
            steps.append((sign, self._product()))
        return Chain(first, tuple(steps)) if steps else first

    def expect_end(self) -> None:
        if self._token.kind != "end":
            raise ExpressionError(self._unexpected())

    def _product(self) -> Node:
        first = self._signed()
        steps = []
        last = first
        while is_percentage(last) and self._take("of"):
            last = self._signed()
            steps.append(("*", last))
        while sign := self._take("*", "/", "//", "%"):
            steps.append((sign, self._signed()))
        return Chain(first, tuple(steps)) if steps else first

    def _signed(self) -> Node:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ExpressionError(f"More than {MAX_DEPTH} levels stand within each other: compute it in parts.")
        sign = self._take("+", "-")
        operand = self._signed() if sign else self._power()
        self._depth -= 1
        return Negative(operand) if sign == "-" else operand

    def _power(self) -> Node:
        base = self._atom()
        while self._token.text == "%" and not self._is_operand(self._tokens[self._at + 1]):
            self._at += 1
            base = Percent(base)
        return Power(base, self._signed()) if self._take("**") else base

    def _atom(self) -> Node:
        token = self._token
        if token.kind == "number":
            self._at += 1
            return Number(token.value)
        if token.kind == "name":
            return self._call()
        if self._take("("):
            inner = self.sum()
            self._close(")")
            return inner
        raise ExpressionError(self._unexpected())

    def _call(self) -> Node:
        name = self._token.text
        if name not in FUNCTIONS:
            raise ExpressionError(
                f"{name[:50]!r} is not known: write numbers in place of names; "
                f"functions are {', '.join(sorted(FUNCTIONS))}."
            )
        self._at += 1
        if not self._take("("):
            raise ExpressionError(f"{name} is a function: write its arguments in parentheses, such as {name}(2).")
        closing = "]" if name in LISTS and self._take("[") else ")"
        arguments = [self.sum()]
        while self._take(","):
            arguments.append(self.sum())
        self._close(closing)
        if closing == "]":
            self._close(")")
        return Call(name, tuple(arguments))

    def _close(self, closing: str) -> None:
        if not self._take(closing):
            missing = f"A {closing} is missing at the end." if self._token.kind == "end" else self._unexpected()
            raise ExpressionError(missing)

    def _take(self, *texts: str) -> str:
        """The next token's text if it is one of these, which is then passed; else an empty text."""
        if self._token.text not in texts:
            return ""
        self._at += 1
        return self._tokens[self._at - 1].text

    @property
    def _token(self) -> Token:
        return self._tokens[self._at]

    @staticmethod
    def _is_operand(token: Token) -> bool:
        return token.kind == "number" or token.text == "(" or (token.kind == "name" and token.text != "of")

    def _unexpected(self) -> str:
        token = self._token
        if self._at == 0 and token.kind == "end":
            return "The expression is empty: give one such as 12*(3+4)."
        if token.kind == "end":
            return "The expression ends where a number should follow: complete it."
        if token.text == ",":
            return "A comma only parts the arguments of a function: write thousands without, decimals with a point."
        operand = self._is_operand(token) and self._at > 0
        return f"{token.text[:50]!r} is misplaced: " + (
            "put an operator before it." if operand else "check what stands before it."
        )


def is_percentage(node: Node) -> bool:
    """Whether the node is a percentage, a sign before it aside."""
    while isinstance(node, Negative):
        node = node.operand
    return isinstance(node, Percent)
