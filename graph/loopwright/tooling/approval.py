"""Which calls need a person's approval, and whether the arguments that a person gave fit the tool."""

from collections.abc import Iterable, Mapping
from typing import Any, get_args

from langchain_core.tools import BaseTool
from pydantic import BaseModel, ValidationError

from loopwright.errors import SettingsError
from loopwright.settings import ToolSettings
from loopwright.state import Effect
from loopwright.tooling.arguments import fitted, properties_of, unknown_names
from loopwright.tooling.policy import effect_of, policy_of


def check_approve(settings: ToolSettings, tools: Iterable[str]) -> None:
    """Raises SettingsError for an entry of `tools.approve` that is no effect and no tool: nobody would be asked."""
    known = {*get_args(Effect), *tools}
    for entry in settings.approve:
        if entry not in known:
            raise SettingsError(
                f"tools.approve holds {entry!r}, which is neither an effect ({', '.join(get_args(Effect))}) nor the "
                "name of a tool: correct it, or nobody would be asked."
            )


def asks_approval(tool: BaseTool, settings: ToolSettings, args: Mapping[str, Any]) -> bool:
    """Whether a person has to approve this call. A rule that cannot judge the arguments does not let them through."""
    policy = policy_of(tool)
    if policy.approval is True or tool.name in settings.approve or effect_of(policy) in settings.approve:
        return True
    if policy.approval is False:
        return False
    try:
        return bool(policy.approval(_as_received(tool, args)))
    except Exception:
        return True


def argument_problem(tool: BaseTool, args: Mapping[str, Any]) -> str:
    """Everything that keeps the arguments from fitting the tool, as one sentence; empty when they fit."""
    properties, open_ended = properties_of(tool)
    strange = None if open_ended else unknown_names(args, properties, "en")
    if strange is not None:
        return strange["text"]
    schema = tool.tool_call_schema
    if not (isinstance(schema, type) and issubclass(schema, BaseModel)):
        missing = [name for name in _required(schema) if name not in args]
        return f"Arguments are missing: {', '.join(missing)}." if missing else ""
    try:
        schema.model_validate(fitted(args, properties))
    except ValidationError as error:
        problems = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors(include_url=False)]
        return f"The arguments do not fit {tool.name}: {'; '.join(problems)}."
    return ""


def _as_received(tool: BaseTool, args: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments as the tool gets them: converted, defaults filled in; as they are where they do not fit."""
    schema = tool.tool_call_schema
    if not (isinstance(schema, type) and issubclass(schema, BaseModel)):
        return args
    try:
        read = schema.model_validate(fitted(args, properties_of(tool)[0]))
    except ValidationError:
        return args
    return {name: getattr(read, name) for name in type(read).model_fields}


def _required(schema: object) -> list[str]:
    required = schema.get("required") if isinstance(schema, Mapping) else None
    return [str(name) for name in required] if isinstance(required, list) else []
