"""What a tool's author may declare about it, kept in the tool's own metadata."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, TypeVar

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from loopwright.errors import SettingsError
from loopwright.state import Effect

_KEY = "loopwright"
_T = TypeVar("_T", bound=BaseTool)
ApprovalRule: TypeAlias = Callable[[Mapping[str, Any]], bool]
"""From a call's arguments to whether a person has to approve it."""


class ToolPolicy(BaseModel):
    """How a tool may be run. One declaration, three readers: retry, guard, resume."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    effect: Effect | None = None
    """pure (same arguments, same result), read, idempotent or write; None is undeclared and run like a write."""
    timeout: float | None = Field(default=None, gt=0)
    """Seconds one execution may take; None takes `settings.tools.timeout`."""
    retries: int | None = Field(default=None, ge=0)
    """Further tries after a transient failure; None takes `settings.tools.retries`. A write is never retried."""
    repeatable: bool = False
    """Whether the same call may be made again and again, as with a clock or a poll."""
    approval: bool | ApprovalRule = False
    """Whether a person has to approve a call before it runs: each one, or those whose arguments a function says."""
    untrusted: bool = False
    """Whether results hold text from outside (files, pages, databases), which gives no orders."""
    max_result_tokens: int | None = Field(default=None, ge=1)
    """Tokens of a result that the model sees; None takes `settings.tools.max_result_tokens`."""


def tool_policy(
    tool: _T,
    *,
    effect: Effect | None = None,
    timeout: float | None = None,
    retries: int | None = None,
    repeatable: bool | None = None,
    approval: bool | ApprovalRule | None = None,
    untrusted: bool | None = None,
    max_result_tokens: int | None = None,
) -> _T:
    """Declare how a tool may be run: writes `tool.metadata`, returns the same tool. What is not given stays as it was.

    `effect` is pure (same arguments, same result), read, idempotent (twice is as once) or write; undeclared is a write.
    `timeout` is in seconds, `retries` are further tries after a transient failure, never of a write; `repeatable` lets
    the same call be made again and again; `untrusted` says that results hold text from outside.

    `approval` is True, or a pure function of the arguments such as `lambda args: args["amount"] > 100`. It is asked
    once a call, with the arguments as the tool will get them; where it raises, a person is asked.

    Raises SettingsError for a plain function, which has no metadata, and for a value out of range.
    """
    given_tool: object = tool
    if not isinstance(given_tool, BaseTool):  # nobody may have checked types, and an approval must not get lost
        raise SettingsError(f"{_named(tool)} is a function and no tool yet: put @tool (langchain_core.tools) above it.")
    given = {
        "effect": effect,
        "timeout": timeout,
        "retries": retries,
        "repeatable": repeatable,
        "approval": approval,
        "untrusted": untrusted,
        "max_result_tokens": max_result_tokens,
    }
    declared = {**policy_of(tool).model_dump(), **{name: value for name, value in given.items() if value is not None}}
    try:
        policy = ToolPolicy.model_validate(declared)
    except ValidationError as error:
        raise SettingsError(f"The policy of tool {tool.name!r} is not valid: {_first(error)}.") from error
    tool.metadata = {**(tool.metadata or {}), _KEY: policy.model_dump(exclude_defaults=True)}
    return tool


def policy_of(tool: BaseTool) -> ToolPolicy:
    """The policy declared for a tool; an empty one where nothing was declared."""
    return ToolPolicy.model_validate((tool.metadata or {}).get(_KEY, {}))


def effect_of(policy: ToolPolicy) -> Effect:
    """The effect by which waves, retry and journal treat a tool: undeclared counts as write."""
    return policy.effect or "write"


def as_tool(tool: BaseTool | Callable[..., Any]) -> BaseTool:
    """A LangChain tool as it is; a plain function wrapped, its docstring the description.

    Raises SettingsError for what is neither, and when a function cannot become a tool.
    """
    if isinstance(tool, BaseTool):
        return tool
    given: object = tool
    if not callable(given) or isinstance(given, type):
        raise SettingsError(f"{_named(tool)} is no tool: give an instance of a LangChain tool, or a function.")
    try:
        from inspect import iscoroutinefunction

        if iscoroutinefunction(tool):
            return StructuredTool.from_function(coroutine=tool)
        return StructuredTool.from_function(tool)
    except (ValueError, TypeError) as error:
        raise SettingsError(
            f"{_named(tool)} cannot become a tool: {error} Give it a docstring and typed parameters."
        ) from error


def _named(given: object) -> str:
    return str(getattr(given, "__name__", None) or f"A {type(given).__name__}")


def _first(error: ValidationError) -> str:
    """What is wrong first, on one line."""
    detail = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, detail['loc']))}: {detail['msg'][:1].lower()}{detail['msg'][1:]}"
