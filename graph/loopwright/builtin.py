"""Tools that belong to the loop itself: paging through results that were too long for the request."""

from collections.abc import Mapping
from typing import Annotated, Any

from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langgraph.prebuilt import ToolRuntime
from langgraph.store.base import BaseStore, GetOp, Item, PutOp
from pydantic import Field

from loopwright.effects import encode_thread
from loopwright.steps import Core, Do
from loopwright.tooling import tool_policy

READ_RESULT = "read_result"
PAGE_CHARACTERS = 4_000
"""Characters of one page of a stored result: about 1,000 tokens of English."""
_SPACE = "results"


def store_result(store: BaseStore, thread: str, ref: str, text: str) -> Core[None]:
    """Keep a whole result under its ref, for `read_result`."""
    op = PutOp((_SPACE, encode_thread(thread)), ref, {"text": text}, index=False)
    yield Do(store.batch, store.abatch, ([op],))
    return None


def load_results(store: BaseStore, thread: str, refs: list[str]) -> Core[Mapping[str, str]]:
    """The whole results by ref; refs that are not stored are left out."""
    ops = [GetOp((_SPACE, encode_thread(thread)), ref) for ref in refs]
    items: list[Item | None] = (yield Do(store.batch, store.abatch, (ops,))) if ops else []
    return {item.key: str(item.value["text"]) for item in items if item is not None}


def page(text: str, offset: int) -> str:
    """The page of a stored result that begins at `offset`, cut at a line's end or white space, and how to read on."""
    rest = text[offset : offset + PAGE_CHARACTERS]
    if offset + len(rest) < len(text):
        cut = max(rest.rfind("\n"), rest.rfind(" "))
        rest = rest[: cut + 1] if cut > 0 else rest
    end = offset + len(rest)
    more = f"; read on with offset={end}" if end < len(text) else "; this is the end"
    return f"[characters {offset}-{end} of {len(text)}{more}]\n{rest}"


def _stored(item: Item | None, ref: str) -> str:
    if item is None:
        raise ToolException(f"No result is stored under ref {ref!r}: use a ref that a shortened result names.")
    return str(item.value["text"])


def _place(runtime: ToolRuntime[Any, Any]) -> tuple[BaseStore, tuple[str, str]]:
    info = runtime.execution_info
    if runtime.store is None or info is None or info.thread_id is None:
        raise ToolException("Results are not stored here, so they cannot be read on.")
    return runtime.store, (_SPACE, encode_thread(info.thread_id))


Ref = Annotated[str, Field(description="The ref that the shortened result names.")]
Offset = Annotated[int, Field(description="Character to begin at; 0 is the start.", ge=0)]


def _read(ref: Ref, runtime: ToolRuntime[Any, Any], offset: Offset = 0) -> str:
    store, space = _place(runtime)
    return page(_stored(store.get(space, ref), ref), offset)


async def _aread(ref: Ref, runtime: ToolRuntime[Any, Any], offset: Offset = 0) -> str:
    store, space = _place(runtime)
    return page(_stored(await store.aget(space, ref), ref), offset)


def read_result_tool() -> BaseTool:
    """The tool that pages through a stored result; offered only once a result was shortened."""
    tool = StructuredTool.from_function(
        func=_read,
        coroutine=_aread,
        name=READ_RESULT,
        description=(
            "Read on in a tool result that was shortened. Use when a result says that characters were left out and "
            "names a ref, and what you need is in the left-out part. Do not use for files or anything without such a "
            "ref. An error means that the ref is not known: take it literally from the shortened result."
        ),
    )
    return tool_policy(tool, effect="read", max_result_tokens=PAGE_CHARACTERS)
