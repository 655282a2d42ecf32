"""Strict schemas that keep defaults: what is optional is nullable on the wire, and its null stands for the default."""

import json
from collections.abc import Mapping
from typing import Any, TypeAlias

Schema: TypeAlias = Mapping[str, Any]

DEEPEST = 10
"""Levels of nesting that OpenAI takes in a strict schema (its guide to structured outputs, November 2025)."""
_RULES = frozenset({
    "type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "$ref", "$defs",
    "description", "pattern", "multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems",
    "maxItems",
})  # fmt: skip
"""The keywords of strict mode; with one beside them (`allOf`, `minLength`, `prefixItems`) a schema cannot be strict."""
_REMARKS = frozenset({"title", "default", "examples", "example", "deprecated", "readOnly", "writeOnly", "$comment"})
"""Keywords that rule nothing out: they are left away."""
_FORMATS = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"})


class _Loose(Exception):
    """The schema says something that strict mode cannot."""


def strict_tool(tool: Schema) -> dict[str, Any] | None:
    """A tool in OpenAI's form as a strict one, or None where its parameters cannot be strict."""
    function = tool["function"]
    parameters = strict_object(function.get("parameters") or {"type": "object", "properties": {}})
    return parameters and {**tool, "function": {**function, "parameters": parameters, "strict": True}}


def strict_object(schema: Schema) -> dict[str, Any] | None:
    """The schema of an object as a strict one, or None where it has free keys, untyped parts or other keywords.

    Every object is closed and requires all its properties; those that were optional take null as well, and say what
    null stands for.
    """
    try:
        strict = _object(schema, 1, root=True)
        if "$defs" in schema:
            strict["$defs"] = {name: _strict(part, 1) for name, part in schema["$defs"].items()}
    except _Loose:
        return None
    return strict


def _strict(schema: Any, depth: int) -> dict[str, Any]:
    if not isinstance(schema, Mapping) or depth > DEEPEST or schema.keys() - _RULES - _REMARKS - {"format"}:
        raise _Loose
    if schema.get("type") == "object" or "properties" in schema:
        return _object(schema, depth)
    kept = {key: value for key, value in schema.items() if key in _RULES}
    if schema.get("format") in _FORMATS:
        kept["format"] = schema["format"]
    if not kept.keys() & {"type", "anyOf", "$ref", "enum", "const"} or "object" in _kinds(schema):
        raise _Loose
    if "anyOf" in kept:
        kept["anyOf"] = [_strict(option, depth + 1) for option in kept["anyOf"]]
    if "array" in _kinds(schema):
        kept["items"] = _strict(schema.get("items"), depth + 1)
    return kept


def _object(schema: Schema, depth: int, *, root: bool = False) -> dict[str, Any]:
    properties = schema.get("properties") or {}
    if schema.get("additionalProperties") or not (properties or root) or schema.keys() - _RULES - _REMARKS:
        raise _Loose
    required = schema.get("required", ())
    closed = {name: _strict(part, depth + 1) for name, part in properties.items()}
    for name in closed.keys() - set(required):
        closed[name] = _nullable(closed[name], properties[name])
    kept = {"description": schema["description"]} if "description" in schema else {}
    return {
        **kept,
        "type": "object",
        "properties": closed,
        "required": list(closed),
        "additionalProperties": False,
    }


def _nullable(strict: dict[str, Any], schema: Schema) -> dict[str, Any]:
    """The schema that takes null as well, and says what for; the same where null has a meaning of its own."""
    if takes_null(schema):
        return strict
    said = {"description": f"{schema.get('description', '')} Null stands for {_default(schema)}.".strip()}
    if "anyOf" in strict:
        return {**strict, **said, "anyOf": [*strict["anyOf"], {"type": "null"}]}
    if "type" not in strict or strict["type"] == "object" or "const" in strict:
        return {"anyOf": [strict, {"type": "null"}], **said}
    values = {"enum": [*strict["enum"], None]} if "enum" in strict else {}
    return {**strict, **said, **values, "type": [*_kinds(strict), "null"]}


def _default(schema: Schema) -> str:
    return f"the default, {json.dumps(schema['default'], ensure_ascii=False)}" if "default" in schema else "the default"


def _kinds(schema: Schema) -> list[str]:
    kinds = schema.get("type", [])
    return [kinds] if isinstance(kinds, str) else list(kinds)


def takes_null(schema: Any) -> bool:
    """Whether null is a value of its own here, and so cannot stand for a default."""
    if not isinstance(schema, Mapping) or not schema.keys() & {"type", "anyOf", "enum", "const"}:
        return True  # untyped or elsewhere: anything may be meant
    if "anyOf" in schema:
        return any(takes_null(option) for option in schema["anyOf"])
    if "enum" in schema:
        return None in schema["enum"]
    return "null" in _kinds(schema) if "type" in schema else schema["const"] is None


def nulls_as_defaults(value: Any, schema: Any) -> Any:
    """The value without the nulls that stand for a default: those of optional properties that may not be null.

    Where several objects are possible, the one that has all the value's keys is meant.
    """
    if not isinstance(schema, Mapping):
        return value
    if isinstance(value, list):
        items = next((option["items"] for option in _options(schema) if "items" in option), None)
        return [nulls_as_defaults(item, items) for item in value]
    if not isinstance(value, Mapping):
        return value
    shapes = [o for o in _options(schema) if "properties" in o and value.keys() <= o["properties"].keys()]
    if not shapes:
        return value
    properties, required = shapes[0]["properties"], shapes[0].get("required", ())
    return {
        name: nulls_as_defaults(part, properties[name])
        for name, part in value.items()
        if part is not None or name in required or takes_null(properties[name])
    }


def _options(schema: Schema) -> list[Schema]:
    return [option for option in schema.get("anyOf", [schema]) if isinstance(option, Mapping)]
