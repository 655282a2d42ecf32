"""The tool that reads on in what a request shows shortened, page by page."""

from typing import Annotated, Any

from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langgraph.prebuilt import ToolRuntime
from langgraph.store.base import BaseStore, Item
from pydantic import Field

from loopwright.builtins.results import results_of
from loopwright.memory.clipping import place_to_cut
from loopwright.tooling import tool_policy

READ_RESULT = "read_result"
PAGE_CHARACTERS = 4_000
"""Characters of one page of a stored result: about 1,000 tokens of English."""


def page(text: str, offset: int) -> str:
    """The page of a stored result around `offset`, and how to read on.

    It begins and ends between words, so a little before an offset that lies inside one, and ends with a line where it
    can. Only a word longer than a page is cut.
    """
    start = _word_start(text, min(offset, len(text)))
    end = min(start + PAGE_CHARACTERS, len(text))
    if end < len(text):
        line = text.rfind("\n", start + PAGE_CHARACTERS // 2, end)
        end = line + 1 if line >= 0 else place_to_cut(text, end, start) or end
    more = f"; read on with offset={end}" if end < len(text) else "; this is the end"
    return f"[characters {start}-{end} of {len(text)}{more}]\n{text[start:end]}"


def _word_start(text: str, at: int) -> int:
    low = max(0, at - PAGE_CHARACTERS)
    place = place_to_cut(text, at, low)
    if place is not None:
        return place
    return 0 if at < PAGE_CHARACTERS else at  # in a word longer than a page the last page ended here


def _stored(item: Item | None, ref: str) -> str:
    if item is None:
        raise ToolException(f"No result is stored under ref {ref!r}: use a ref that a shortened result names.")
    return str(item.value["text"])


def _place(runtime: ToolRuntime[Any, Any]) -> tuple[BaseStore, tuple[str, str]]:
    info = runtime.execution_info
    if runtime.store is None or info is None or info.thread_id is None:
        raise ToolException("Results are not stored here, so they cannot be read on.")
    return runtime.store, results_of(info.thread_id)


Ref = Annotated[str, Field(description="The ref that the shortened text names.")]
Offset = Annotated[int, Field(description="Character to begin at; 0 is the start.", ge=0)]


def _read(ref: Ref, runtime: ToolRuntime[Any, Any], offset: Offset = 0) -> str:
    store, space = _place(runtime)
    return page(_stored(store.get(space, ref), ref), offset)


async def _aread(ref: Ref, runtime: ToolRuntime[Any, Any], offset: Offset = 0) -> str:
    store, space = _place(runtime)
    return page(_stored(await store.aget(space, ref), ref), offset)


def read_result_tool() -> BaseTool:
    """The tool that pages through a stored result or a clipped user message; offered only once there is one."""
    tool = StructuredTool.from_function(
        func=_read,
        coroutine=_aread,
        name=READ_RESULT,
        description=(
            "Read on in a text that was shortened. Use when a result or message says that characters were left out and "
            "names a ref, and what you need is in the left-out part. Do not use for files or anything without such a "
            "ref. An error means that the ref is not known: take it literally from the shortened text."
        ),
    )
    return tool_policy(tool, effect="read", max_result_tokens=PAGE_CHARACTERS)
