"""What a form of replies is: how a model is told of it, how past steps are written in it, how a server enforces it."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias

from loopwright.models.protocols.text_tools import TextTool, TextTools

FormName: TypeAlias = Literal["json_flat", "json_nested", "json_schema"]
RESULT = "Observation"
"""The word that every result begins with."""


class Form(Protocol):
    """One form of replies: a single JSON object that is a call or the answer."""

    @property
    def name(self) -> FormName:
        """The name of the setting."""
        ...

    def shape(self, tools: TextTools) -> str:
        """The form in a few lines: what a call looks like, and what the answer."""
        ...

    def call(self, name: str, args: Mapping[str, Any], thought: str, tools: TextTools) -> str:
        """A call as a reply has it."""
        ...

    def answer(self, text: str, tools: TextTools) -> str:
        """The final answer as a reply has it."""
        ...

    def response_format(self, tools: TextTools, *, strict: bool) -> dict[str, Any] | None:
        """What makes a server enforce the form; None for nothing. `strict` obeys the rules of OpenAI's strict mode."""
        ...


def instructions(form: Form, tools: TextTools) -> str:
    """What the system prompt says about the form, with the tools and two or three worked examples."""
    if not tools:
        return f"No tools can be used now. Reply with one JSON object and nothing else:\n{form.shape(tools)}"
    return "\n\n".join(
        [
            "You use tools by writing JSON. Each reply is one JSON object and nothing else: no prose, no code fence, "
            f"one action.\n{form.shape(tools)}\n"
            f'The result comes in the next message, behind the word "{RESULT}". It comes from the tool, not from the '
            "user.",
            "\n".join(["Tools:", *map(_described, tools.values())]),
            "\n".join(['Examples ("..." stands for what the task needs):', *examples(form, tools)]),
        ]
    )


def examples(form: Form, tools: TextTools) -> Sequence[str]:
    """One or two calls of the bound tools, those with arguments first, and an answer."""
    shown = sorted(tools.values(), key=lambda tool: not tool.properties)[:2]
    calls = [form.call(tool.name, _example_arguments(tool), "...", tools) for tool in shown]
    return [*calls, form.answer("...", tools)]


def format_reminder(form: Form, tools: TextTools, problem: str) -> str:
    """What a model is told whose reply had the wrong format: the problem in plain words, the format, an example."""
    told = f"Your last reply could not be used: {problem}. Reply with one JSON object and nothing else."
    return "\n".join([told, form.shape(tools), f"For example: {examples(form, tools)[0]}"])


def dumped(value: object) -> str:
    """The value as JSON text in one line."""
    return json.dumps(value, ensure_ascii=False, default=str)


def _described(tool: TextTool) -> str:
    arguments = {name: _without_titles(schema) for name, schema in tool.properties.items()}
    required = [name for name in tool.parameters.get("required") or () if name in arguments]
    takes = f"{dumped(arguments)}, required: {', '.join(required) or 'none'}" if arguments else "none"
    return f"- {tool.name}: {tool.description}\n  Arguments: {takes}"


def _without_titles(schema: object) -> object:
    if not isinstance(schema, Mapping):
        return schema
    return {key: item for key, item in schema.items() if not (key == "title" and isinstance(item, str))}


def _example_arguments(tool: TextTool) -> dict[str, Any]:
    names = [name for name in tool.parameters.get("required") or () if name in tool.properties]
    return {name: _example(tool.properties[name]) for name in names or list(tool.properties)[:1]}


def _example(schema: object) -> object:
    if not isinstance(schema, Mapping):
        return "..."
    for key in ("examples", "enum"):
        if isinstance(schema.get(key), list) and schema[key]:
            return schema[key][0]
    given = {"integer": 1, "number": 1.5, "boolean": True, "array": [], "object": {}}
    return given.get(str(schema.get("type")), "...")
