"""How many characters of a message to keep so that it costs no more than so many tokens."""

from loopwright.memory.clipping import matching
from loopwright.memory.legality import Spoken
from loopwright.memory.material import Material
from loopwright.memory.seeing import clipped
from loopwright.transcript import text_of


def fitting_sizes(material: Material, message: Spoken, limit: int, words: frozenset[str], most: int) -> list[int]:
    """Head, tail and pieces of a clip that costs at most `limit` tokens, or as little as a clip can.

    Three eighths each go to head and tail, a quarter to at most `most` pieces that hold `words`.
    """
    text = text_of(message)
    characters = len(text) * limit // max(1, material.cost(message))
    while True:
        end = characters * 3 // 8
        sizes = [end, end, *matching(text, end, end, characters - 2 * end, words, most)]
        if characters == 0 or material.cost(clipped(message, sizes, material.language)) <= limit:
            return sizes
        characters = characters * 3 // 4 if characters > 8 else 0


def common_limit(costs: list[int], room: int) -> int:
    """The most that each may cost so that all together fit the room."""
    left = len(costs)
    for cost in sorted(costs):
        if cost * left > room:
            return max(0, room) // left
        room -= cost
        left -= 1
    return max(costs, default=0)
