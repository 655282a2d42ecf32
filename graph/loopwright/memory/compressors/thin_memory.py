"""Shortens the memory block itself, when nothing else is left to shorten."""

from loopwright.memory.counting import count_text
from loopwright.memory.ledger import trimmed
from loopwright.memory.material import VIEW_BYTES, Material
from loopwright.memory.memory_block import ledger_line
from loopwright.shapes import Fact, View


def thin_memory(material: Material, view: View) -> View:
    """The view without the least used facts, as many as must go; without its summary if that is not enough."""

    def cost(fact: Fact) -> int:
        return count_text(ledger_line(fact) + "\n", material.profile.model)

    missing = material.tokens(view) - material.budget
    used = material.words(material.places.get(view["folded_through"], -1))
    room = max(0, sum(map(cost, view["ledger"])) - missing)
    kept = trimmed(view["ledger"], used, room_bytes=VIEW_BYTES, room_tokens=room, cost=cost)
    thinner: View = {**view, "ledger": kept}
    return thinner if material.tokens(thinner) <= material.budget else {**thinner, "summary": "", "ledger": []}
