"""Shortens a user's message that alone takes more than half the budget."""

from langchain_core.messages import HumanMessage

from loopwright.memory.compressors.clip_results import MOST_PIECES
from loopwright.memory.compressors.sizes import fitting_sizes
from loopwright.memory.material import Material
from loopwright.state import View


def clip_user(material: Material, view: View) -> View:
    """The view with every user message over half the budget clipped; together they get half of it."""
    half = material.budget // 2
    long = [m for m in material.spoken if isinstance(m, HumanMessage) and m.id and material.cost(m) > half]
    clips = dict(view["clips"])
    for message in long:
        words = material.later_words(-1)
        clips[message.id or ""] = fitting_sizes(material, message, half // len(long), words, MOST_PIECES)
    return {**view, "clips": clips}
