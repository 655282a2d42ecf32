"""Shortens the newest group: one round of parallel results alone can be over the budget."""

from langchain_core.messages import AIMessage, ToolMessage

from loopwright.memory.compressors.sizes import common_limit, fitting_sizes
from loopwright.memory.legality import Spoken
from loopwright.memory.material import VIEW_BYTES, Material, view_bytes
from loopwright.memory.seeing import clip_key
from loopwright.shapes import View

MOST_PIECES = 6
_LEAST = 12
"""Tokens that a message keeps at least."""


def clip_newest(material: Material, view: View) -> View:
    """The view with the newest group's results clipped to equal shares of what is left; short ones stay whole.

    Where that is not enough its assistant message is clipped too: its text and long argument values.
    """
    if not material.work:
        return view
    group = material.units[material.work[-1]].messages
    results: list[Spoken] = [message for message in group if isinstance(message, ToolMessage)]
    everything = [*results, *(message for message in group if isinstance(message, AIMessage) and message.id)]
    for messages in (results, everything):
        view = _clipped(material, view, messages)
        if material.tokens(view) <= material.budget:
            break
    return view


def _clipped(material: Material, view: View, messages: list[Spoken]) -> View:
    """The view with these messages at one common limit, lowered until the request fits or the limit is at its least."""
    bare: View = {**view, "clips": {k: v for k, v in view["clips"].items() if k not in set(map(clip_key, messages))}}
    costs = [material.cost(message) for message in messages]
    room = material.budget - material.tokens(bare) + sum(costs)
    limit = max(_LEAST, common_limit(costs, room))
    while True:
        shorter = _at_limit(material, bare, messages, limit)
        if limit == _LEAST or material.tokens(shorter) <= material.budget:
            return shorter
        limit = max(_LEAST, limit * 4 // 5)


def _at_limit(material: Material, view: View, messages: list[Spoken], limit: int) -> View:
    clips = dict(view["clips"])
    for message in messages:
        if material.cost(message) > limit:
            words = material.user_words
            sizes = fitting_sizes(material, message, limit, words, MOST_PIECES)
            if view_bytes({**view, "clips": {**clips, clip_key(message): sizes}}) < VIEW_BYTES:
                clips[clip_key(message)] = sizes
    return {**view, "clips": clips}
