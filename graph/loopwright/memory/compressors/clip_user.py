"""Shortens what the user wrote where it leaves no room for work: a message over half the budget, then all together."""

from langchain_core.messages import HumanMessage

from loopwright.memory.compressors.clip_results import MOST_PIECES
from loopwright.memory.compressors.sizes import common_limit, fitting_sizes
from loopwright.memory.material import VIEW_BYTES, Material, view_bytes
from loopwright.memory.seeing import clipped
from loopwright.shapes import View


def clip_user(material: Material, view: View) -> View:
    """The view with every user message over half the budget clipped, so that they take half of it together.

    Where that is not enough (a long conversation) the longest of all are, to the same half; short ones stay whole.
    """
    half = material.budget // 2
    users = [message for message in material.spoken if isinstance(message, HumanMessage) and message.id]
    long = [message for message in users if material.cost(message) > half]
    view = _clipped(material, view, long, half // max(1, len(long)))
    if material.tokens(view) <= material.budget:
        return view
    return _clipped(material, view, users, common_limit([material.cost(message) for message in users], half))


def _clipped(material: Material, view: View, messages: list[HumanMessage], limit: int) -> View:
    """The view with those of the messages that take more than `limit` tokens clipped to it, where that saves any."""
    clips = dict(view["clips"])
    words = material.later_words(-1)
    for message in messages:
        if material.cost(message) > limit:
            sizes = fitting_sizes(material, message, limit, words, MOST_PIECES)
            short = clipped(message, sizes, material.language)
            fits = view_bytes({**view, "clips": {**clips, message.id or "": sizes}}) < VIEW_BYTES
            if fits and material.cost(short) < material.cost(message):
                clips[message.id or ""] = sizes
    return {**view, "clips": clips}
