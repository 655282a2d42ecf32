"""The tools that a request binds, as names with their argument schemas."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True)
class BoundTool:
    """One bound tool: its name and what its arguments look like (JSON schema)."""

    name: str
    properties: Mapping[str, Mapping[str, object]]
    required: tuple[str, ...]


Bound: TypeAlias = Mapping[str, BoundTool]


def bound_tools(tools: Sequence[Mapping[str, Any]] | None, tool_choice: object = None) -> Bound:
    """The tools by name, in order: none where `tool_choice` is "none", one alone where it names that one."""
    if tool_choice == "none":
        return {}
    bound = {tool.name: tool for tool in map(_read, tools or ())}
    chosen = tool_choice
    if isinstance(tool_choice, Mapping):
        chosen = tool_choice.get("function", {}).get("name")
    return {chosen: bound[chosen]} if isinstance(chosen, str) and chosen in bound else bound


def _read(tool: Mapping[str, Any]) -> BoundTool:
    """Read OpenAI's form: `{"type": "function", "function": {"name", "parameters"}}`."""
    function = tool.get("function", tool)
    schema = function.get("parameters") or {}
    return BoundTool(function["name"], schema.get("properties", {}), tuple(schema.get("required", ())))
