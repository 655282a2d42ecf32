"""A key that a tool passes on to a server, so that the server itself refuses to do one call twice."""

from collections.abc import Callable
from functools import wraps
from typing import Any, get_args, get_type_hints
from uuid import NAMESPACE_URL, uuid5

from langchain_core.tools import BaseTool, InjectedToolCallId, StructuredTool
from langgraph.config import get_config

from loopwright.errors import SettingsError


class IdempotencyKey(InjectedToolCallId):
    """Annotation of a tool's parameter that receives the call's idempotency key; the model never sees it.

        def pay(to: str, amount: float, key: Annotated[str, IdempotencyKey]) -> str: ...

    A UUID made of the thread and the call's id: the same when a step is done again after a crash, another one for every
    other call. Where the tool runs outside of an agent it is the bare id of the call.
    """


def key_of(call_id: str) -> str:
    """The idempotency key of a call of the running thread."""
    thread = get_config().get("configurable", {}).get("thread_id", "")
    return str(uuid5(NAMESPACE_URL, f"loopwright:{thread}:{call_id}"))


def keyed(tool: BaseTool) -> BaseTool:
    """The tool, ready to be given its keys: LangChain injects the call's id, and a wrapper makes a key of it.

    Raises SettingsError for a tool that is a class of its own, whose `_run` cannot be wrapped.
    """
    if isinstance(tool, StructuredTool):
        wrapped = {name: _with_key(function) for name in ("func", "coroutine") if (function := getattr(tool, name))}
        changed = {name: function for name, function in wrapped.items() if function is not getattr(tool, name)}
        return tool.model_copy(update=changed) if changed else tool
    if _parameters(type(tool)._run) or _parameters(type(tool)._arun):
        raise SettingsError(
            f"The tool {tool.name!r} is a class and cannot be given an IdempotencyKey: let it take the call's id "
            "(InjectedToolCallId) and make the key with loopwright.tooling.idempotency.key_of."
        )
    return tool


def _with_key(function: Callable[..., Any]) -> Callable[..., Any]:
    names = _parameters(function)
    if not names:
        return function

    @wraps(function)  # also of a coroutine function: LangChain awaits what it returns
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **{name: key_of(value) if name in names else value for name, value in kwargs.items()})

    return call


def _parameters(function: Callable[..., Any]) -> frozenset[str]:
    """The parameters that are annotated with IdempotencyKey."""
    try:
        hints = get_type_hints(function, include_extras=True)
    except Exception:  # an annotation that cannot be resolved is not ours
        return frozenset()
    return frozenset(name for name, hint in hints.items() if any(_is_key(mark) for mark in get_args(hint)[1:]))


def _is_key(mark: object) -> bool:
    return isinstance(mark, IdempotencyKey) or (isinstance(mark, type) and issubclass(mark, IdempotencyKey))
