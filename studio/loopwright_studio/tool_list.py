"""The agent's tools in the terminal: name, effect, timeout, arguments."""

from collections.abc import Sequence

from langchain_core.tools import BaseTool

from loopwright.settings import ToolSettings
from loopwright.tooling import policy_of
from loopwright.tooling.descriptions import Gap, gaps
from loopwright_studio.console import Screen
from loopwright_studio.visible import one_line

_MISSING: dict[Gap, str] = {"when": "when to use the tool", "when_not": "when not to use it"}


def print_tools(screen: Screen, tools: Sequence[BaseTool], settings: ToolSettings) -> None:
    """One line a tool. An argument with `?` may be left out; with `approval` a person is asked before each call."""
    lines = []
    for tool in tools:
        policy = policy_of(tool)
        effect = (policy.effect or "undeclared") + (", approval" if policy.approval else "")
        line = (tool.name, effect, f"{policy.timeout or settings.timeout:g}s", _arguments(tool))
        lines.append([*map(one_line, line)])
    screen.columns(("tool", "effect", "timeout", "arguments"), lines)


def undeclared(tools: Sequence[BaseTool]) -> str | None:
    """What to say about tools whose effect nobody declared; None when there are none."""
    names = [one_line(tool.name) for tool in tools if policy_of(tool).effect is None]
    if not names:
        return None
    return (
        f"No effect is declared for {', '.join(names)}: such a tool runs like a write, alone and never retried. "
        "Declare it with tool_policy(tool, effect=...)."
    )


def unguided(tools: Sequence[BaseTool]) -> str | None:
    """What to say about tools whose description leaves open when to use them; None when there are none."""
    found = {one_line(tool.name): gaps(tool.description) for tool in tools}
    said = [
        f"{what} ({', '.join(names)})"
        for gap, what in _MISSING.items()
        if (names := [name for name, missing in found.items() if gap in missing])
    ]
    if not said:
        return None
    return (
        f"Not every description says {', or '.join(said)}: a model then guesses, and chooses wrong more often. "
        'Add a sentence such as "Use when ...; do not use for ...".'
    )


def warnings(tools: Sequence[BaseTool]) -> list[str]:
    """What their authors should add to these tools; empty when nothing is missing."""
    return [text for text in (undeclared(tools), unguided(tools)) if text is not None]


def _arguments(tool: BaseTool) -> str:
    return ", ".join(f"{name}?" if "default" in schema else name for name, schema in tool.args.items())
