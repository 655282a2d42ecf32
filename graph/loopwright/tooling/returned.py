"""What a tool returned, as the content of a message: whatever it was, it can be read, stored and compared."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import partial, wraps
from itertools import islice
from typing import Any

from langchain_core.messages.tool import ToolOutputMixin
from langchain_core.tools import BaseTool, StructuredTool, Tool
from langchain_core.tools.base import TOOL_MESSAGE_BLOCK_TYPES

from loopwright.tooling.bounds import Exited
from loopwright.tooling.plain import plain, text_of

MOST_ITEMS = 100_000
"""Items that are taken from a generator; an endless one would fill the memory until its timeout."""


def readable(tool: BaseTool) -> BaseTool:
    """A copy of the tool whose results can always be shown: awaited, collected, and written as text or blocks.

    A tool class with a `_run` of its own may hold state, so it is not copied: LangChain writes its results.
    """
    if not isinstance(tool, StructuredTool | Tool) or type(tool)._run not in (StructuredTool._run, Tool._run):
        return tool
    pair = tool.response_format == "content_and_artifact"
    changes = {
        "func": _read(tool.func, pair) if tool.func else None,
        "coroutine": _aread(tool.coroutine, pair) if tool.coroutine else None,
    }
    return tool.model_copy(update=changes)


def _read(function: Callable[..., Any], pair: bool) -> Callable[..., Any]:
    if isinstance(function, partial):
        return partial(_read(function.func, pair), *function.args, **function.keywords)

    @wraps(function)
    def read(*args: Any, **kwargs: Any) -> Any:
        returned = function(*args, **kwargs)
        if inspect.isawaitable(returned) or isinstance(returned, AsyncIterator):
            returned = asyncio.run(_settled(returned))  # a tool's thread has no event loop
        return _shown(returned, pair)

    return read


def _aread(function: Callable[..., Awaitable[Any]], pair: bool) -> Callable[..., Awaitable[Any]]:
    if isinstance(function, partial):
        return partial(_aread(function.func, pair), *function.args, **function.keywords)

    @wraps(function)
    async def read(*args: Any, **kwargs: Any) -> Any:
        try:
            return _shown(await _settled(function(*args, **kwargs)), pair)
        except SystemExit as error:
            raise Exited from error

    return read


async def _settled(returned: Any) -> Any:
    """What was returned, awaited until it is no awaitable; the items of an async generator as a list."""
    while inspect.isawaitable(returned):
        returned = await returned
    if not isinstance(returned, AsyncIterator):
        return returned
    items: list[Any] = []
    async for item in returned:
        items.append(item)
        if len(items) > MOST_ITEMS:
            break
    return iter(items)


def _shown(returned: Any, pair: bool) -> Any:
    if pair and isinstance(returned, tuple) and len(returned) == 2:
        return content_of(returned[0]), returned[1]
    return content_of(returned)


def content_of(value: Any) -> Any:
    """The content that stands for a value: text, or a list of content blocks; messages and Commands as they are.

    A generator is read here, so that its exceptions are the tool's own. Lines of text are joined as lines.
    """
    if isinstance(value, Iterator):
        items = list(islice(value, MOST_ITEMS + 1))
        more = f"(stopped after {MOST_ITEMS:,} items)" if len(items) > MOST_ITEMS else ""
        if all(isinstance(item, str) for item in items):
            return "\n".join([*items[:MOST_ITEMS], *([more] if more else [])])
        value = [*items[:MOST_ITEMS], *([more] if more else [])]
    if isinstance(value, ToolOutputMixin):
        return value
    if isinstance(value, list) and value and all(isinstance(item, ToolOutputMixin) for item in value):
        return value
    if isinstance(value, dict) and _is_block(value) and value["type"] != "text":
        return plain([value])
    if isinstance(value, list) and value and all(map(_is_block, value)):
        return plain(value)
    return text_of(value)


def _is_block(value: Any) -> bool:
    if not isinstance(value, dict) or value.get("type") not in TOOL_MESSAGE_BLOCK_TYPES:
        return False
    return value["type"] != "text" or isinstance(value.get("text"), str)
