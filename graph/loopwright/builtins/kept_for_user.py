"""Where a tool keeps what outlives its thread: the run's store, user and thread, and how what is found reads."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from langchain_core.tools import ToolException
from langgraph.prebuilt import ToolRuntime
from langgraph.store.base import BaseStore

from loopwright.builtins.long_term import Memory, user_of
from loopwright.memory.clipping import cut


class Shelf(NamedTuple):
    """The store, the user whose facts stand there, and the thread that a new one comes from."""

    store: BaseStore
    user: str
    thread: str


def shelf_of(runtime: ToolRuntime[Any, Any]) -> Shelf:
    """The shelf of the running tool. Raises ToolException where there is no store, or nobody said who the user is."""
    if runtime.store is None:
        raise ToolException("Nothing is kept between conversations here: this agent runs without a store.")
    user = user_of(runtime.context)
    if user is None:
        raise ToolException(
            "It is not known who the user is, so nothing is kept between conversations: "
            'whoever runs the agent names the user with user={"id": ...}.'
        )
    info = runtime.execution_info
    return Shelf(runtime.store, user, (info.thread_id if info else None) or "")


def told(found: Sequence[Memory], query: str) -> str:
    """Facts of earlier conversations as text, each with its day and thread."""
    if not found:
        return f"Nothing that was kept in earlier conversations matches {cut(query, 100) or 'this'!r}."
    lines = [f"- [{memory.kept_at:%Y-%m-%d}, thread {memory.thread}] {memory.text}" for memory in found]
    return "\n".join(["Kept in earlier conversations with this user:", *lines])
