"""Which built-in tools a request offers, and which of their calls the transcript itself answers."""

from collections.abc import Mapping, Sequence

from langchain_core.messages import AnyMessage, HumanMessage
from langchain_core.tools import BaseTool

from loopwright.builtins.read_result import READ_RESULT, page, read_result_tool
from loopwright.builtins.recall import RECALL, recall, recall_tool
from loopwright.builtins.remember import remember_tool
from loopwright.memory import REMEMBER, hides
from loopwright.settings import MemorySettings
from loopwright.state import View
from loopwright.transcript import text_of


def built_in_tools(settings: MemorySettings) -> list[BaseTool]:
    """Every tool that the loop brings along."""
    return [
        read_result_tool(),
        remember_tool(long_term=settings.long_term, approval=settings.long_term_approval),
        recall_tool(long_term=settings.long_term),
    ]


def kept_out(messages: Sequence[AnyMessage], view: View, stored: int, *, long_term: bool = False) -> frozenset[str]:
    """The built-in tools that would be of no use yet, by name; `stored` counts the results that can be read on.

    Nothing has to be kept or found while everything is in sight, unless there are other threads (`long_term`).
    """
    names = set() if long_term or hides(view) else {REMEMBER, RECALL}
    clips = view["clips"]
    if not stored and not (clips and any(isinstance(m, HumanMessage) and m.id in clips for m in messages)):
        names.add(READ_RESULT)
    return frozenset(names)


def answer_from(messages: Sequence[AnyMessage], tool: str, args: Mapping[str, object]) -> str | None:
    """What the transcript answers to this call: to a search, or to reading on in a user's message; else None."""
    query, ref, offset = args.get("query"), args.get("ref"), args.get("offset") or 0
    if tool == RECALL and isinstance(query, str) and query.strip():
        return recall(messages, query)
    if tool == READ_RESULT and ref and isinstance(offset, int) and offset >= 0:
        texts = (text_of(m) for m in messages if isinstance(m, HumanMessage) and m.id == ref)
        return next((page(text, offset) for text in texts), None)
    return None
