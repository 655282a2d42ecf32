"""The tool by which the model keeps a fact in sight, whatever is folded later, and for later conversations."""

from collections.abc import Mapping
from typing import Annotated, Any

from langchain_core.tools import BaseTool, StructuredTool
from langgraph.prebuilt import ToolRuntime
from pydantic import BaseModel, Field

from loopwright.builtins.kept_for_user import shelf_of
from loopwright.builtins.long_term import keep
from loopwright.memory import LONGEST_FACT, REMEMBER
from loopwright.steps import adrive, drive
from loopwright.tooling import tool_policy

_FACT = Field(description="One self-contained sentence, with its values.", min_length=1, max_length=LONGEST_FACT)
_KEPT = "Kept."  # the call itself stands in the transcript, from where the next compression takes the fact
_KEPT_ACROSS = "Kept, for later conversations with this user as well."


class Kept(BaseModel):
    """The arguments of `remember` within a thread."""

    fact: str = _FACT


Across = Annotated[
    bool, Field(description="Whether to keep it for later conversations with this user as well, not only for this one.")
]


def _remember(**_fact: object) -> str:
    return _KEPT


def _remember_across(fact: Annotated[str, _FACT], runtime: ToolRuntime[Any, Any], across: Across = False) -> str:
    if not across:
        return _KEPT
    store, user, thread = shelf_of(runtime)
    drive(keep(store, user, thread, fact))
    return _KEPT_ACROSS


async def _aremember_across(fact: Annotated[str, _FACT], runtime: ToolRuntime[Any, Any], across: Across = False) -> str:
    if not across:
        return _KEPT
    store, user, thread = shelf_of(runtime)
    await adrive(keep(store, user, thread, fact))
    return _KEPT_ACROSS


def _outlives(args: Mapping[str, Any]) -> bool:
    return bool(args.get("across"))


def remember_tool(*, long_term: bool = False, approval: bool = True) -> BaseTool:
    """The tool that keeps a fact for this thread: a compression pins it, marked as the model's, in the data block.

    With `long_term` the model may keep it for later threads of the user too, which needs a person's `approval`.
    """
    if long_term:
        tool = StructuredTool.from_function(
            func=_remember_across,
            coroutine=_aremember_across,
            name=REMEMBER,
            description=(
                "Keep one fact in sight for the rest of this conversation, or (across) for later ones with this user "
                "too. Use for a value or decision that later steps need, and across for what the user wants kept or "
                "will need again. Do not use for plans, nor across for what holds only now."
            ),
        )
        return tool_policy(tool, effect="idempotent", approval=_outlives if approval else False)
    tool = StructuredTool.from_function(
        func=_remember,
        name=REMEMBER,
        args_schema=Kept,
        description=(
            "Keep one fact in sight for the rest of this conversation. Use for a value or decision that later steps "
            "need. Do not use for what the user said or for plans."
        ),
    )
    return tool_policy(tool, effect="pure")
