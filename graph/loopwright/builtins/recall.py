"""The tool that finds earlier work of the thread by words, and the search behind it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langgraph.prebuilt import ToolRuntime
from pydantic import BaseModel, Field

from loopwright.builtins.kept_for_user import shelf_of, told
from loopwright.builtins.long_term import search
from loopwright.builtins.matching import best_matches, words_of
from loopwright.memory import REMEMBER
from loopwright.memory.clipping import around, cut, matching_pieces
from loopwright.memory.material import arguments_text
from loopwright.steps import adrive, drive
from loopwright.tooling import Outcome, tool_policy
from loopwright.transcript import Group, groups, text_of

RECALL = "recall"
MOST_FOUND = 5
"""Groups that one search returns."""
EXCERPT = 600
"""Characters of one group's matching lines."""
MOST_LINES = 8
_ARGUMENTS = 120


def recall(messages: Sequence[AnyMessage], query: str) -> str:
    """The groups of the transcript that share most words with the query, with their step numbers, the newest first.

    Words count less the more groups hold them; Chinese is searched by pairs of characters, so that words of two are
    found. A step is one reply of the model, counted from the thread's first; user messages stand with the step after.
    """
    wanted = words_of(query)
    found = [(step, unit, text) for step, unit in _steps(messages) if (text := _text(unit))]
    chosen = sorted(best_matches([text for *_, text in found], wanted, MOST_FOUND), reverse=True)
    if not chosen:
        return f"Nothing in this conversation matches {cut(query, 100) or 'this'!r}: try other words."
    return "\n\n".join(_told(*found[place], wanted) for place in chosen)


def _steps(messages: Sequence[AnyMessage]) -> list[tuple[int, Group]]:
    """The groups with the number of the reply that each is or stands before; searches themselves are left out."""
    numbered: list[tuple[int, Group]] = []
    step = 1
    for unit in groups(messages):
        first = unit.messages[0]
        if isinstance(first, AIMessage):
            if not first.tool_calls or any(call["name"] not in (RECALL, REMEMBER) for call in first.tool_calls):
                numbered.append((step, unit))
            step += 1
        elif isinstance(first, HumanMessage):
            numbered.append((step, unit))
    return numbered


def _text(unit: Group) -> str:
    """What was said, called and returned, but for what an earlier search returned."""
    said = [text_of(m) for m in unit.messages if not (isinstance(m, ToolMessage) and m.name == RECALL)]
    return "\n".join(filter(None, [arguments_text(unit), *said]))


def _told(step: int, unit: Group, text: str, wanted: set[str]) -> str:
    """One group as an entry: who spoke or what was called, then the lines that match."""
    first = unit.messages[0]
    if isinstance(first, AIMessage):
        names = ", ".join(dict.fromkeys(call["name"] for call in first.tool_calls))
        asked = cut(" ".join(arguments_text(unit).split()), _ARGUMENTS)
        who = f"{names}({asked})" if names else "assistant"
    else:
        who = "user"
    lines = matching_pieces(text, EXCERPT, wanted) or [around(text, word, EXCERPT) for word in wanted if word]
    return f"[step {step}] {who}\n" + "\n".join(filter(None, lines[:MOST_LINES]))


_QUERY = Field(description="A few words that the text you look for holds.", min_length=1)


class Search(BaseModel):
    """The arguments of `recall`."""

    query: str = _QUERY


def _recall(**_query: object) -> str:
    raise ToolException("There is no transcript here: this tool is answered by the loop that offers it.")


def _recall_kept(query: Annotated[str, _QUERY], runtime: ToolRuntime[Any, Any]) -> str:
    store, user, _ = shelf_of(runtime)
    return told(drive(search(store, user, query)), query)


async def _arecall_kept(query: Annotated[str, _QUERY], runtime: ToolRuntime[Any, Any]) -> str:
    store, user, _ = shelf_of(runtime)
    return told(await adrive(search(store, user, query)), query)


def recall_tool(*, long_term: bool = False) -> BaseTool:
    """The tool that searches the thread's own transcript; the loop answers it, since no tool sees the transcript.

    With `long_term` the tool itself adds what was kept of the user in other threads; all it finds is framed as data.
    """
    if long_term:
        tool = StructuredTool.from_function(
            func=_recall_kept,
            coroutine=_arecall_kept,
            name=RECALL,
            description=(
                "Find earlier steps of this conversation, and facts kept in earlier ones with this user, by words. Use "
                "when something that was seen or kept before is not in sight. Do not use to look anything up outside."
            ),
        )
        return tool_policy(tool, effect="read", untrusted=True)
    tool = StructuredTool.from_function(
        func=_recall,
        name=RECALL,
        args_schema=Search,
        description=(
            "Find earlier steps of this conversation by words. Use when something that was seen before is no longer "
            "in sight. Do not use to look anything up outside."
        ),
    )
    return tool_policy(tool, effect="read")


def with_transcript(answer: str, kept: Outcome) -> Outcome:
    """What the transcript answers to a search, and behind it what the tool found elsewhere, or why it found nothing."""
    return replace(kept, status="ok", content=f"{answer}\n\n{kept.text}", failure=None, cause=None)
