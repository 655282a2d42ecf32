"""Folds the oldest whole groups into summary and ledger."""

from collections.abc import Mapping

from langchain_core.messages import AIMessage, ToolMessage

from loopwright.memory.clipping import cut
from loopwright.memory.counting import count_text
from loopwright.memory.ledger import facts, trimmed
from loopwright.memory.material import KEPT_FREE, VIEW_BYTES, Material, view_bytes
from loopwright.memory.memory_block import ledger_line
from loopwright.memory.seeing import clip_key
from loopwright.memory.summarising import summary_tokens
from loopwright.shapes import Fact, View

LEDGER_SHARE = 0.6
"""Share of the tokens that what never goes leaves of the budget, which the ledger may take."""


def foldable(material: Material, view: View) -> list[int]:
    """Places of the oldest groups to fold to meet the target, with room for a summary and their facts."""
    missing = material.tokens(view) - material.target
    if material.settings.summary:
        missing += max(0, summary_tokens(material) - count_text(view["summary"], material.profile.model))
    chosen: list[int] = []
    for place in material.old(view):
        if missing <= 0 or not material.has_ids(place):
            break
        chosen.append(place)
        said = sum(_fact_cost(fact, material) for fact in _facts(material, place))
        missing -= max(0, material.unit_cost(place, view) - said)
    return chosen


def fold(material: Material, view: View, places: list[int], summary: str, summaries: Mapping[str, str] = {}) -> View:
    """The view with these groups folded: their facts join the ledger, `summary` stands for what was said.

    `summaries` are those of single results, by call id. The ledger keeps what is in use within its share of the budget
    and the view's 8 kB. Of a call that was made again and succeeded then, only the last result is kept.
    """
    if not places:
        return view
    last = places[-1]
    gone = {
        clip_key(message)
        for unit in material.units[: last + 1]
        for message in unit.messages
        if isinstance(message, AIMessage | ToolMessage)
    }
    folded: View = {
        **view,
        "summary": summary,
        "folded_through": material.units[last].last_id,
        "clips": {key: sizes for key, sizes in view["clips"].items() if key not in gone},
        "dropped": [edges for edges in view["dropped"] if material.places.get(edges[-1], -1) > last],
        "ledger": [],
    }
    room = VIEW_BYTES - KEPT_FREE - view_bytes(folded)
    if room < 0:  # many pins and clips: a character takes up to three bytes
        folded["summary"] = cut(summary, max(0, (room + len(summary)) // 3))
        room = VIEW_BYTES - KEPT_FREE - view_bytes(folded)
    ledger = [*view["ledger"], *(fact for place in places for fact in _facts(material, place, summaries))]
    kept = trimmed(
        [fact for fact in ledger if fact["call_id"] not in material.superseded],
        material.words(last),
        room_bytes=room,
        room_tokens=int(max(0, material.budget - material.fixed) * LEDGER_SHARE),
        cost=lambda fact: _fact_cost(fact, material),
    )
    return {**folded, "ledger": kept}


def _facts(material: Material, place: int, summaries: Mapping[str, str] = {}) -> list[Fact]:
    later = material.later_words(place)
    unit, words, originals = material.units[place], material.user_words, material.originals
    return facts(unit, words, later, originals=originals, summaries=summaries, language=material.language)


def _fact_cost(fact: Fact, material: Material) -> int:
    return count_text(ledger_line(fact) + "\n", material.profile.model)
