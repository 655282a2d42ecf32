"""The other kind of summary: one line a tool result, in one request for all results that are folded together."""

import re
from collections.abc import Mapping, Sequence

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage, ToolMessage

from loopwright.memory.clipping import clip, cut
from loopwright.memory.counting import count_message
from loopwright.memory.ledger import MOST
from loopwright.memory.material import Material
from loopwright.memory.summarising import MOST_REQUESTS
from loopwright.memory.wording import WORDING

MOST_WORDS = 50
LINE_TOKENS = 100
"""Tokens that a line of so many words takes at most, in either language."""
_READ = 20_000
"""Characters of one result that are looked at."""
_LEAST = 100
"""Characters of each result below which a request is not worth making."""
_LINE = re.compile(r"^\W*(\d+)\s*[.:)：、]\s*(\S.*)$", re.MULTILINE)


def batches(material: Material, places: Sequence[int]) -> list[dict[str, str]]:
    """The texts of these groups' successful results that are too long to be kept whole, by call id.

    Each batch is for one request: as many as have their lines in a third of the budget. At most four, the newest.
    """
    texts = [
        (message.tool_call_id, text)
        for place in places
        for message in material.units[place].messages
        if isinstance(message, ToolMessage)
        and message.status == "success"
        and len(text := material.original(message)) > MOST
    ]
    size = max(1, material.budget // (3 * LINE_TOKENS))
    parts = [dict(texts[start : start + size]) for start in range(0, len(texts), size)]
    return parts[-MOST_REQUESTS:]


def results_request(material: Material, results: Mapping[str, str]) -> list[BaseMessage] | None:
    """The request for one line a result, each cut so that all fit the budget; None where that leaves too little."""
    said = WORDING[material.language]
    size = _READ
    while size >= _LEAST:
        listed = [
            f"{number}. {clip(text, size // 3, size // 3, material.user_words, language=material.language)}"
            for number, text in enumerate(results.values(), start=1)
        ]
        asked = "\n\n".join([said.each_result.format(words=MOST_WORDS), *listed])
        request: list[BaseMessage] = [SystemMessage(content=said.write_memory), HumanMessage(content=asked)]
        reply = len(results) * LINE_TOKENS
        if sum(count_message(message, material.profile.model) for message in request) + reply <= material.budget:
            return request
        size //= 2
    return None


def read_lines(text: str, results: Mapping[str, str]) -> dict[str, str]:
    """The summaries by call id: numbered lines, cut at 50 words; a line of no number and of no result is left out."""
    keys = list(results)
    found: dict[str, str] = {}
    for number, line in _LINE.findall(text):
        place = int(number) - 1
        if 0 <= place < len(keys) and keys[place] not in found:
            found[keys[place]] = cut(" ".join(line.split()[:MOST_WORDS]), MOST)
    return {key: line for key, line in found.items() if line}
