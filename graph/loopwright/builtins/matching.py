"""Finds texts by the words that they share with a query, Chinese by pairs of characters."""

import math
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from loopwright.memory.clipping import terms


def words_of(query: str) -> set[str]:
    """What a query is searched by: its words and pairs of characters, else the whole of it, in lower case."""
    return terms(query) or {query.strip().lower()}


def best_matches(texts: Sequence[str], words: AbstractSet[str], most: int) -> list[int]:
    """Places of the texts that share most, the best first, later ones before earlier; those that share nothing not.

    A word counts less the more texts hold it.
    """
    lowered = [text.lower() for text in texts]
    holding = {word: sum(word in text for text in lowered) for word in words if word}
    scores = [sum(math.log(1 + len(texts) / holding[word]) for word in holding if word in text) for text in lowered]
    best = sorted(range(len(texts)), key=lambda place: (-scores[place], -place))
    return [place for place in best[:most] if scores[place] > 0]
