"""What `tools` and `doctor` say of tools whose authors left something open."""

from collections.abc import Callable

from langchain_core.tools import BaseTool, tool
from typer.testing import Result

from loopwright import tool_policy
from loopwright_studio.tool_list import unguided, warnings


def described(name: str, description: str) -> BaseTool:
    """A reading tool with this description."""

    @tool(name, description=description)
    def run(x: str) -> str:
        return x

    return tool_policy(run, effect="read")


CLEAR = described("clear", "Read something. Use when asked; do not use for writing.")
CHINESE = described("chaxun", "查询订单。当用户询问订单时使用,不要用于价格。")
VAGUE = described("vague", "Reads something.")
HALF = described("half", "Read something. Use when asked.")


def test_tools_without_guidance_are_named() -> None:
    """Each is named under what its description leaves open, with what to write; clear ones are not named."""
    warning = unguided([CLEAR, CHINESE, VAGUE, HALF])
    assert warning is not None
    assert "when to use the tool (vague)" in warning
    assert "when not to use it (vague, half)" in warning
    assert "Use when" in warning
    assert "clear" not in warning
    assert unguided([CLEAR, CHINESE]) is None


def test_effect_and_guidance_are_two_warnings() -> None:
    """A tool that leaves both open is told both; one that leaves nothing open is told nothing."""

    @tool("bare")
    def bare(x: str) -> str:
        """Do something."""
        return x

    assert len(warnings([bare])) == 2
    assert warnings([CLEAR]) == []


def test_the_shipped_tools_pass(invoke: Callable[..., Result]) -> None:
    """`tools` warns of none of ours, and `doctor` says that they are in order."""
    assert invoke("tools").stderr == ""
    assert "tools say when to use them and declare their effect" in invoke("doctor").stdout
