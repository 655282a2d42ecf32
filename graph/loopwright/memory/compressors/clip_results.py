"""Shortens old tool results, oldest first, until the target is met."""

from json import dumps

from langchain_core.messages import ToolMessage

from loopwright.memory.clipping import matching
from loopwright.memory.material import KEPT_FREE, VIEW_BYTES, Material, view_bytes
from loopwright.memory.seeing import clipped
from loopwright.shapes import View
from loopwright.transcript import text_of

MOST_BYTES = 3_000
"""Bytes that the clips may take of the view; what would go beyond is left to folding."""
MOST_PIECES = 12


def clip_results(material: Material, view: View) -> View:
    """The view with old results clipped to `clip_characters`: head, tail, and lines that are in use."""
    clips = dict(view["clips"])
    missing = material.tokens(view) - material.target
    for place in material.old(view):
        if (
            missing <= 0
            or len(dumps(clips)) > MOST_BYTES
            or view_bytes({**view, "clips": clips}) > VIEW_BYTES - KEPT_FREE
        ):
            break
        words = material.words(place)
        for message in material.units[place].messages:
            if isinstance(message, ToolMessage) and _is_long(message, material, clips.get(message.tool_call_id)):
                key = message.tool_call_id
                before = clipped(message, clips[key], material.language) if key in clips else message
                sizes = result_sizes(text_of(message), material.settings.clip_characters, words)
                saved = material.cost(before) - material.cost(clipped(message, sizes, material.language))
                if saved > 0:
                    clips[key] = sizes
                    missing -= saved
    return {**view, "clips": clips}


def result_sizes(text: str, characters: int, words: frozenset[str]) -> list[int]:
    """What a view stores of a clip: a quarter for the head, one for the tail, and the pieces that fill the rest."""
    end = characters // 4
    return [end, end, *matching(text, end, end, characters - 2 * end, words, MOST_PIECES)]


def _is_long(message: ToolMessage, material: Material, sizes: list[int] | None) -> bool:
    """Whether the result, or what a clip left of it when it was new, is over what an old one may keep."""
    if sizes is not None:
        return sum(sizes[:2]) > material.settings.clip_characters // 2
    return isinstance(message.content, list) or len(message.content) > material.settings.clip_characters
