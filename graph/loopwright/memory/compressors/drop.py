"""Leaves out the oldest whole groups, with one line that says how many."""

from loopwright.memory.material import Material
from loopwright.shapes import View


def drop(material: Material, view: View) -> View:
    """The view with the oldest groups behind the folded part left out until the budget is met; never the newest."""
    missing = material.tokens(view) - material.budget
    gone = material.dropped(view)
    for place in material.old(view):
        if missing <= 0 or not material.has_ids(place):
            break
        missing -= material.unit_cost(place, view)
        gone.add(place)
    return {**view, "dropped": _ranges(material, gone)}


def _ranges(material: Material, gone: set[int]) -> list[list[str]]:
    """The fewest ranges that cover these groups and no other; user messages between them do not part a range."""
    ranges: list[list[str]] = []
    inside = False
    for place in material.work:
        if place in gone and material.has_ids(place):
            unit = material.units[place]
            first = ranges.pop()[0] if inside else unit.id
            ranges.append([first, unit.last_id])
        inside = place in gone
    return ranges
