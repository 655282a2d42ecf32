"""A call's arguments as the tool's schema wants them, or what is wrong with their names."""

import json
import unicodedata
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from loopwright.language import Language
from loopwright.state import Failure
from loopwright.strict_schema import nulls_as_defaults, takes_null
from loopwright.tooling.wording import told

_OPTIONAL = "x-optional"
"""Marks, in what `properties_of` gives, the schema of an argument that a call may leave out."""


def properties_of(tool: BaseTool) -> tuple[Mapping[str, Any], bool]:
    """The schemas of a tool's arguments by name, and whether it takes others as well."""
    parameters = convert_to_openai_tool(tool)["function"].get("parameters", {})
    extra = getattr(tool.args_schema, "model_config", {}).get("extra") if tool.args_schema else None
    required = parameters.get("required", ())
    properties = {
        name: schema if name in required else {**schema, _OPTIONAL: True}
        for name, schema in parameters.get("properties", {}).items()
    }
    return properties, bool(parameters.get("additionalProperties")) or extra == "allow"


def fitted(args: Mapping[str, Any], properties: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of the arguments under the schema's names, each in the form that the schema asks for.

    A name that differs only in case or form (full-width letters) is the schema's. JSON text is read where a list or an
    object is asked for, full-width digits where a number is; a number is written out where only text will do. A null
    that stands for a default, since it is no value of its own there, is left out, at any depth.
    """
    named: dict[str, Any] = {}
    for name, value in args.items():
        own = name if name in properties else _look_alike(name, properties)
        named[name if own is None or own in args or own in named else own] = value
    ready = {name: _fitted(deepcopy(value), properties.get(name)) for name, value in named.items()}
    return {
        name: nulls_as_defaults(value, properties.get(name))
        for name, value in ready.items()
        if value is not None or not _stands_for_default(properties.get(name))
    }


def _stands_for_default(schema: object) -> bool:
    return isinstance(schema, Mapping) and _OPTIONAL in schema and not takes_null(schema)


def _look_alike(name: str, properties: Mapping[str, Any]) -> str | None:
    same = [known for known in properties if _plain(known) == _plain(name)]
    return same[0] if len(same) == 1 else None


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).strip().casefold()


def _fitted(value: Any, schema: object) -> Any:
    if isinstance(value, bool) or not isinstance(value, str | int | float) or not isinstance(schema, Mapping):
        return value
    kinds = {schema.get("type"), *(option.get("type") for option in schema.get("anyOf", []))} - {None}
    if not isinstance(value, str):
        return json.dumps(value) if kinds in ({"string"}, {"string", "null"}) else value
    if "string" in kinds or not kinds & {"array", "object", "integer", "number"}:
        return value
    if kinds & {"integer", "number"}:
        return unicodedata.normalize("NFKC", value).strip()
    try:
        read = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return read if isinstance(read, list if "array" in kinds else dict) else value


def unknown_names(args: Mapping[str, Any], properties: Mapping[str, Any], language: Language) -> Failure | None:
    """The failure of a call that names arguments the tool does not have: dropping them would run something else."""
    unknown = [name for name in args if name not in properties]
    if not unknown:
        return None
    known, named = ", ".join(properties) or "-", ", ".join(map(repr, unknown))
    return {"kind": "bad_arguments", "text": told("no_argument", language, named=named, known=known)}
