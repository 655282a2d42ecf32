"""A call's arguments as the tool's schema wants them, or what is wrong with their names."""

import json
from collections.abc import Mapping
from typing import Any

from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from loopwright.state import Failure


def properties_of(tool: BaseTool) -> tuple[Mapping[str, Any], bool]:
    """The schemas of a tool's arguments by name, and whether it takes others as well."""
    parameters = convert_to_openai_tool(tool)["function"].get("parameters", {})
    extra = getattr(tool.args_schema, "model_config", {}).get("extra") if tool.args_schema else None
    return parameters.get("properties", {}), bool(parameters.get("additionalProperties")) or extra == "allow"


def fitted(args: Mapping[str, Any], properties: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments with a list or object that came as JSON text read where the schema asks for one."""
    return {name: _fitted(value, properties.get(name)) for name, value in args.items()}


def _fitted(value: Any, schema: object) -> Any:
    if not isinstance(value, str) or not isinstance(schema, Mapping):
        return value
    kinds = {schema.get("type"), *(option.get("type") for option in schema.get("anyOf", []))}
    if "string" in kinds or not kinds & {"array", "object"}:
        return value
    try:
        read = json.loads(value)
    except ValueError:
        return value
    return read if isinstance(read, list if "array" in kinds else dict) else value


def unknown_names(args: Mapping[str, Any], properties: Mapping[str, Any]) -> Failure | None:
    """The failure of a call that names arguments the tool does not have: dropping them would run something else."""
    unknown = [name for name in args if name not in properties]
    if not unknown:
        return None
    known = ", ".join(properties) or "none"
    named = ", ".join(map(repr, unknown))
    return {"kind": "bad_arguments", "text": f"The tool has no argument {named}; its arguments are: {known}."}
