"""Brings a request within its budget: the compressors in their order, each only as far as it is needed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from langchain_core.messages import BaseMessage

from loopwright.memory.compressors import clip_newest, clip_results, clip_user, drop, fold, foldable, thin_memory
from loopwright.memory.counting import count_text
from loopwright.memory.material import Material
from loopwright.memory.summarising import accept_summary, chunks, summary_request
from loopwright.state import View
from loopwright.steps import Core

Stage: TypeAlias = Literal["none", "clip_results", "fold", "drop", "clip_user", "clip_newest", "thin_memory"]
Summarise: TypeAlias = Callable[[list[BaseMessage]], Core[str | None]]
"""Makes one summary request; the text, or None when the model failed."""

_LAST_RESORTS: tuple[tuple[Stage, Callable[[Material, View], View]], ...] = (
    ("drop", drop),
    ("clip_user", clip_user),
    ("clip_newest", clip_newest),
    ("thin_memory", thin_memory),
)
"""What is done only as far as the budget demands: it takes away what the model may need at once."""


@dataclass(frozen=True)
class Compressed:
    """What a compression did: the new view, tokens of the request before and after, and the last stage that helped."""

    view: View
    before: int
    after: int
    stage: Stage
    fits: bool
    """False when the system prompt, the tools and what must stay are over the budget by themselves."""
    over: int
    """Tokens by which the request still passes the budget."""
    summary_tokens: int
    """Tokens of the summary that was written; 0 when none was."""


def compress(material: Material, view: View, summarise: Summarise | None) -> Core[Compressed]:
    """The view under which the request fits its budget; unchanged where it fits already. Makes each step at most once.

    Old results are clipped and old groups folded down to the target; the rest goes only as far as the budget. Without
    `summarise`, or where it brings nothing usable, groups are folded into the ledger alone and the summary stays.
    """
    before = after = material.tokens(view)
    stage: Stage = "none"
    first = view
    if before > material.budget:
        view, after, stage = _better(material, (view, after, stage), "clip_results", clip_results(material, view))
        if after > material.target:
            folded = yield from _fold(material, view, summarise)
            view, after, stage = _better(material, (view, after, stage), "fold", folded)
        for name, compressor in _LAST_RESORTS:
            if after > material.budget:
                view, after, stage = _better(material, (view, after, stage), name, compressor(material, view))
    written = view["summary"] if view["summary"] != first["summary"] else ""
    tokens = count_text(written, material.profile.model) if written else 0
    over = max(0, after - material.budget)
    return Compressed(view, before, after, stage, not over, over, tokens)


def _better(material: Material, so_far: tuple[View, int, Stage], name: Stage, view: View) -> tuple[View, int, Stage]:
    """The new view if its request is shorter."""
    after = material.tokens(view)
    return (view, after, name) if after < so_far[1] else so_far


def _fold(material: Material, view: View, summarise: Summarise | None) -> Core[View]:
    """The oldest groups folded, with a summary of them if one can be had."""
    places = foldable(material, view)
    summary = view["summary"]
    if summarise is not None and places:
        summary = yield from _summarised(material, summary, places, summarise)
    return fold(material, view, places, summary)


def _summarised(material: Material, summary: str, places: list[int], summarise: Summarise) -> Core[str]:
    """The summary with these groups in it: part by part, the last good one when a part fails."""
    for work in chunks(material, summary, places):
        text = yield from summarise(summary_request(material, summary, work))
        accepted = accept_summary(text or "", material, work)
        if accepted is None:
            break
        summary = accepted
    return summary
