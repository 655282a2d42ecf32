"""Brings a request within its budget: the compressors in their order, each only as far as it is needed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from langchain_core.messages import AIMessage, BaseMessage

from loopwright.memory.compressors import clip_newest, clip_results, clip_user, drop, fold, foldable, thin_memory
from loopwright.memory.counting import count_text
from loopwright.memory.material import Material
from loopwright.memory.pinning import with_remembered
from loopwright.memory.result_summaries import batches, read_lines, results_request
from loopwright.memory.summarising import accept_summary, appended, chunks, summary_request
from loopwright.shapes import View
from loopwright.steps import Core

Stage: TypeAlias = Literal["none", "window", "clip_results", "fold", "drop", "clip_user", "clip_newest", "thin_memory"]
SummaryEnd: TypeAlias = Literal["", "written", "failed", "unusable"]
Summarise: TypeAlias = Callable[[list[BaseMessage]], Core[str | None]]
"""Makes one summary request; the text, or None when the model failed."""

_LAST_RESORTS: tuple[tuple[Stage, Callable[[Material, View], View]], ...] = (
    ("drop", drop),
    ("clip_user", clip_user),
    ("clip_newest", clip_newest),
    ("thin_memory", thin_memory),
)
"""What is done only as far as the budget demands: it takes away what the model may need at once."""


_SoFar: TypeAlias = tuple[View, int, Stage]
_NONE: SummaryEnd = ""


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
    summary: SummaryEnd
    """What became of the summary; empty when none was asked for."""
    folded: int
    dropped: int
    clipped: int
    """Steps that this compression folded and left out, and messages that it clipped."""
    tools: tuple[str, ...]
    """The tools whose calls are no longer shown since."""


def compress(material: Material, view: View, summarise: Summarise | None) -> Core[Compressed]:
    """The view under which the request fits window and budget; unchanged where it fits already.

    What has to leave the window is folded first. Then, where the budget is still passed: old results are clipped and
    old groups folded down to the target; the rest goes only as far as the budget. Without `summarise`, or where it
    brings nothing usable, groups are folded into the ledger alone and the summary stays.
    """
    before, leaving = material.tokens(view), material.outside_window(view)
    if before <= material.budget and not leaving:
        return _told(material, view, view, before, before, "none", "")
    kept = with_remembered(view, material.spoken)
    so_far: _SoFar = (kept, material.tokens(kept), "none")
    summary = _NONE
    if leaving:  # whatever it saves: a window is a rule of its own
        folded, summary = yield from _fold(material, kept, leaving, summarise)
        so_far = (folded, material.tokens(folded), "window")
    if so_far[1] > material.budget:
        so_far, end = yield from _shortened(material, so_far, summarise)
        summary = end or summary
    if so_far[1] > before and not leaving:  # nothing could go, and what was kept in sight came on top
        so_far = (view, before, "none")
    return _told(material, view, so_far[0], before, so_far[1], so_far[2], summary)


def _shortened(material: Material, so_far: _SoFar, summarise: Summarise | None) -> Core[tuple[_SoFar, SummaryEnd]]:
    """The view brought to the target, or at least into the budget; each compressor is used at most once."""
    summary = _NONE
    so_far = _better(material, so_far, "clip_results", clip_results(material, so_far[0]))
    if so_far[1] > material.target:
        folded, summary = yield from _fold(material, so_far[0], foldable(material, so_far[0]), summarise)
        so_far = _better(material, so_far, "fold", folded)
    for name, compressor in _LAST_RESORTS:
        if so_far[1] > material.budget:
            so_far = _better(material, so_far, name, compressor(material, so_far[0]))
    return so_far, summary


def _told(
    material: Material, old: View, new: View, before: int, after: int, stage: Stage, summary: SummaryEnd
) -> Compressed:
    """The compression as its event tells it."""
    written = new["summary"] if new["summary"] != old["summary"] else ""
    hidden = {place: _hidden(material, view) for place, view in (("old", old), ("new", new))}
    gone = hidden["new"][0] | hidden["new"][1]
    new_places = gone - hidden["old"][0] - hidden["old"][1]
    replies = (material.units[place].messages[0] for place in sorted(new_places))
    called = [call["name"] for reply in replies if isinstance(reply, AIMessage) for call in reply.tool_calls]
    return Compressed(
        view=new,
        before=before,
        after=after,
        stage=stage,
        fits=after <= material.budget,
        over=max(0, after - material.budget),
        summary_tokens=count_text(written, material.profile.model) if written else 0,
        summary=summary,
        folded=len(hidden["new"][0] - hidden["old"][0]),
        dropped=len(hidden["new"][1] - hidden["old"][1]),
        clipped=sum(old["clips"].get(key) != sizes for key, sizes in new["clips"].items()),
        tools=tuple(dict.fromkeys(called)),
    )


def _hidden(material: Material, view: View) -> tuple[set[int], set[int]]:
    """Places of the folded and of the left-out groups."""
    folded = material.places.get(view["folded_through"], -1)
    return {place for place in material.work if place <= folded}, material.dropped(view)


def _better(material: Material, so_far: _SoFar, name: Stage, view: View) -> _SoFar:
    """The new view if its request is shorter."""
    after = material.tokens(view)
    return (view, after, name) if after < so_far[1] else so_far


def _fold(
    material: Material, view: View, places: list[int], summarise: Summarise | None
) -> Core[tuple[View, SummaryEnd]]:
    """These oldest groups folded, with a summary of them if one can be had and enough work waits for it."""
    if summarise is None or not places:
        return fold(material, view, places, view["summary"]), _NONE
    if material.settings.per_result_summary:
        summaries, end = yield from _each_result(material, places, summarise)
        return fold(material, view, places, view["summary"], summaries), end
    start = material.places.get(view.get("summarised_through", ""), -1)
    waiting = [place for place in material.work if start < place <= places[-1]]
    if start >= 0 and len(waiting) < material.settings.summary_rounds:
        return fold(material, view, places, view["summary"]), _NONE
    summary, end = yield from _summarised(material, view["summary"], waiting, summarise)
    through = material.units[places[-1]].last_id
    return {**fold(material, view, places, summary), "summarised_through": through}, end


def _summarised(
    material: Material, summary: str, places: list[int], summarise: Summarise
) -> Core[tuple[str, SummaryEnd]]:
    """The summary with these groups in it: part by part, the last good one when a part fails."""
    end = _NONE
    appends = material.settings.summary_append
    for work in chunks(material, "" if appends else summary, places):
        text = yield from summarise(summary_request(material, "" if appends else summary, work))
        accepted = accept_summary(text or "", material, work)
        if accepted is None:
            return summary, "failed" if text is None else "unusable"
        summary, end = appended(summary, accepted, material.settings) if appends else accepted, "written"
    return summary, end


def _each_result(
    material: Material, places: list[int], summarise: Summarise
) -> Core[tuple[Mapping[str, str], SummaryEnd]]:
    """One line a long result of these groups, by call id; those without one keep what the ledger makes of them."""
    found: dict[str, str] = {}
    end = _NONE
    for results in batches(material, places):
        request = results_request(material, results)
        if request is None:
            break
        text = yield from summarise(request)
        lines = read_lines(text or "", results)
        if not lines:
            return found, "failed" if text is None else "unusable"
        found |= lines
        end = "written"
    return found, end
