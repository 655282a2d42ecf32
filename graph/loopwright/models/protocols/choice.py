"""The JSON schema of the choice among the bound tools: one object a tool, and one that ends."""

import json
from collections.abc import Mapping
from typing import Any

from loopwright.models.protocols.reading import WRAPPER
from loopwright.models.protocols.text_tools import INPUT, TextTools


def choice_format(tools: TextTools, ending: str, *, strict: bool) -> dict[str, Any]:
    """The choice as a `response_format`.

    At the root of the schema, as llama.cpp, vLLM and Ollama take it, or with `strict` inside of one field: OpenAI takes
    no choice at the root.
    """
    choice = choice_schema(tools, ending)
    if strict:
        choice = _object({WRAPPER: choice})
    return {"type": "json_schema", "json_schema": {"name": WRAPPER, "schema": choice, "strict": True}}


def choice_schema(tools: TextTools, ending: str) -> dict[str, Any]:
    """The schema itself; a single possibility stands without a choice around it."""
    options = [_option(tool.name, _arguments(tool.parameters)) for tool in tools.values()]
    options.append(_option(ending, {"type": "string"}))
    return {"anyOf": options} if len(options) > 1 else options[0]


def _option(name: str, given: dict[str, Any]) -> dict[str, Any]:
    return _object({"action": {"type": "string", "enum": [name]}, INPUT: given})


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _arguments(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a tool's arguments; any object where it points into itself, which has no meaning elsewhere."""
    if "properties" not in parameters:
        return _object({})
    if '"$ref"' in json.dumps(parameters, default=str):
        return {"type": "object"}
    return {**parameters, "type": "object"}
