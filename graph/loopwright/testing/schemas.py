"""What a server refuses in the offered tools: names, numbers, choices, and schemas that claim to be strict."""

import re
from collections.abc import Iterator

from loopwright.testing.json_types import JSON, JSONObject

TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
MOST_TOOLS = 128
STRICT_KEYWORDS = frozenset({
    "type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "$ref", "$defs",
    "title", "description", "pattern", "format", "multipleOf", "minimum", "maximum", "exclusiveMinimum",
    "exclusiveMaximum", "minItems", "maxItems",
})  # fmt: skip
"""What a schema that claims to be strict may say; `default` and `minLength` are not among it."""


def tool_problems(request: JSONObject) -> Iterator[str]:
    """The problems of `tools` and of the options that need them."""
    tools = request.get("tools")
    if tools is None:
        for option in ("tool_choice", "parallel_tool_calls"):
            if request.get(option) is not None:
                yield f"Invalid value for '{option}': '{option}' is only allowed when 'tools' are specified."
        return
    if not isinstance(tools, list) or not tools:
        yield "Invalid 'tools': empty array. Expected an array with minimum length 1."
        return
    if len(tools) > MOST_TOOLS:
        yield f"Invalid 'tools': array too long. Expected an array with maximum length {MOST_TOOLS}, got {len(tools)}."
    names: set[str] = set()
    for position, tool in enumerate(tools):
        function = tool.get("function") if isinstance(tool, dict) and tool.get("type") == "function" else None
        if not isinstance(function, dict):
            yield f"Invalid value for 'tools[{position}]': expected an object of type 'function' with a 'function'."
            continue
        yield from _function_problems(function, names, f"tools[{position}].function")
        names.add(str(function.get("name")))
    yield from _choice_problems(request.get("tool_choice"), names)


def _function_problems(function: JSONObject, names: set[str], where: str) -> Iterator[str]:
    name = function.get("name")
    if not isinstance(name, str) or not TOOL_NAME.fullmatch(name):
        yield f"Invalid '{where}.name': string does not match pattern. Expected '^[a-zA-Z0-9_-]{{1,64}}$'."
    if name in names:
        yield f"Invalid '{where}.name': the tool name {name!r} is not unique."
    parameters = function.get("parameters")
    if parameters is not None and not (isinstance(parameters, dict) and parameters.get("type") == "object"):
        yield f"Invalid schema for function {name!r}: schema must be of type 'object'."
    elif function.get("strict"):
        for problem in _not_strict(parameters, ()):
            yield f"Invalid schema for function {name!r}: {problem}"


def _choice_problems(choice: JSON, names: set[str]) -> Iterator[str]:
    if isinstance(choice, dict):
        function = choice.get("function")
        name = function.get("name") if isinstance(function, dict) else None
        if name not in names:
            yield f"Invalid value for 'tool_choice': no function named {name!r} was specified in the 'tools' parameter."
    elif choice not in (None, "none", "auto", "required"):
        yield f"Invalid value: {choice!r} for 'tool_choice'. Supported values are: 'none', 'auto', and 'required'."


def _not_strict(schema: JSON, path: tuple[str, ...]) -> Iterator[str]:
    """Where the schema breaks a rule of strict mode: closed objects, all properties required, every part typed."""
    if not isinstance(schema, dict):
        yield f"In context={path}, a schema is missing."
        return
    for keyword in sorted(schema.keys() - STRICT_KEYWORDS):
        yield f"In context={path}, '{keyword}' is not permitted."
    properties = schema.get("properties") or {}
    if schema.get("type") == "object" or properties:
        if schema.get("additionalProperties") is not False:
            yield f"In context={path}, 'additionalProperties' is required to be supplied and to be false."
        required = schema.get("required")
        missing = set(properties if isinstance(properties, dict) else ()) - set(_strings(required))
        if missing:
            yield (
                f"In context={path}, 'required' is required to be supplied and to be an array including every key in "
                f"properties. Missing {sorted(missing)}."
            )
    if not {"type", "anyOf", "$ref", "enum", "const"} & schema.keys():
        yield f"In context={path}, schema must have a 'type' key."
    for key in ("properties", "$defs"):
        inner = schema.get(key)
        for name, part in inner.items() if isinstance(inner, dict) else ():
            yield from _not_strict(part, (*path, key, name))
    options = schema.get("anyOf")
    for position, part in enumerate(options if isinstance(options, list) else ()):
        yield from _not_strict(part, (*path, "anyOf", str(position)))
    if "items" in schema:
        yield from _not_strict(schema["items"], (*path, "items"))


def _strings(value: JSON) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
