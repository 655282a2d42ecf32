"""The tool `calculator`: arithmetic, computed exactly and without running code."""

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, ConfigDict, Field

from loopwright import tool_policy
from loopwright_tools.arithmetic import MAX_DIGITS, evaluate
from loopwright_tools.exact import shown
from loopwright_tools.expression import parse
from loopwright_tools.notation import ExpressionError, stated


class CalculatorArguments(BaseModel):
    """What calculator takes."""

    model_config = ConfigDict(extra="forbid")

    expression: str = Field(
        description=(
            "Numbers with + - * / // % **, parentheses and the functions min max sum round abs sqrt, such as "
            '"12*(3+4)", "15% of 80" or "round(10/3, 2)". A % with no number behind it means percent.'
        )
    )


def calculator_tool() -> BaseTool:
    """The tool `calculator`."""
    tool = StructuredTool.from_function(
        calculator,
        description=(
            "Compute an arithmetic expression exactly: integers in full, decimals without float noise, "
            "what never ends rounded to 15 digits; round() rounds halves away from zero. "
            "Use when a task needs any arithmetic, also simple: percentages, sums of a few numbers, powers, roots. "
            "Do not use for sums over a file's rows (read_table), for dates, units, variables or equations. "
            "An error says which part cannot be computed and how to write it."
        ),
        args_schema=CalculatorArguments,
    )
    return tool_policy(tool, effect="pure", timeout=5)


def calculator(expression: str) -> str:
    """The expression and its value, as "2+3 = 5". Raises ExpressionError, a ToolException."""
    value = evaluate(parse(expression))
    if abs(value.numerator) >= 10**MAX_DIGITS * value.denominator:
        raise ExpressionError(
            f"The result has more than {MAX_DIGITS} digits, too many to show: compute something smaller."
        )
    return f"{stated(expression)} = {shown(value)}"
