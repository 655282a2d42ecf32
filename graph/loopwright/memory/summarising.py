"""The summary that the model writes: what it is asked, in requests that fit the budget, and what is taken as one."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from json import dumps

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from loopwright.memory.clipping import clip, cut, shorten, without_first_run
from loopwright.memory.counting import count_message, count_text
from loopwright.memory.material import Material
from loopwright.memory.wording import WORDING
from loopwright.settings import MemorySettings
from loopwright.transcript import text_of

MOST_REQUESTS = 4
"""Requests that one compression makes at most: longer work is clipped to what fits into them."""
MOST_BYTES = 3_200
"""Bytes a summary may have in the view, whatever its tokens."""
_READ = 200_000
"""Characters of one original that are looked at, half from each end."""
_LEAST_ROOM = 60
"""Tokens of work below which a request is not worth making."""
_ECHO = 300
"""Characters from which on a summary that stands literally in what was summarised is an echo."""
_REFUSAL = re.compile(
    r"(?i)\W*(i['’]?m sorry|sorry|i can(?:no|['’])t|i am unable|as an ai|抱歉|对不起|很遗憾|我无法|我不能)"
)
_CALL = re.compile(r"(?s)\W*(<tool_call|<function|```(?:json)?\s*\{|\{\s*\"(?:name|tool|action|function)\"\s*:)")


def summary_tokens(material: Material) -> int:
    """Tokens a summary may have: the settings, at most a fifth of the budget."""
    most = material.settings.summary_characters or material.settings.summary_tokens
    return min(material.settings.summary_tokens, most, material.budget // 5)  # a character is seldom over one token


def summary_request(material: Material, summary: str, work: str) -> list[BaseMessage]:
    """The request for a summary of `work` (see `chunks`) that replaces `summary`: one system and one user message."""
    said = WORDING[material.language]
    request = "\n\n".join(material.user_texts)
    form = said.summarise_alone if material.settings.summary_append else said.summarise
    parts = [form.format(size=_size(material))]
    size = material.budget // 5  # characters from either end: at most about a tenth of the budget
    parts.append(f"{said.request}\n{shorten(request, size, size // 2, language=material.language)}")
    if summary:
        parts.append(f"{said.previous}\n{summary}")
    parts.append(f"{said.work}\n{work}")
    return [SystemMessage(content=said.write_memory), HumanMessage(content="\n\n".join(parts))]


def _size(material: Material) -> str:
    """How long the summary may be, as the model is told."""
    said, characters = WORDING[material.language], material.settings.summary_characters
    if characters is not None:
        return said.characters.format(count=characters)
    # a token is about two words' worth in neither language: half the tokens as words stays below the cap in both
    return said.words.format(count=max(20, summary_tokens(material) // 2))


def chunks(material: Material, summary: str, places: Sequence[int]) -> list[str]:
    """The work of these groups as readable text, from the originals, cut so that each part's request fits the budget.

    At most four parts; none when the budget leaves no room for any work beside the instructions.
    """
    room = _room(material, summary)
    if room < _LEAST_ROOM:
        return []
    entries = [entry for place in places for entry in _entries(material, place)]
    model = material.profile.model
    all_room = _characters("\n".join(entries), MOST_REQUESTS * room, model) * 4 // 5
    longest = _fair_share([len(entry) for entry in entries], all_room)
    words = material.words(places[0]) if places else frozenset()
    text = "\n".join(
        clip(entry, longest // 3, longest // 3, words, language=material.language) if len(entry) > longest else entry
        for entry in entries
    )
    return list(islice(_parts(text, room, model), MOST_REQUESTS))


def accept_summary(text: str, material: Material, source: str) -> str | None:
    """The text as a summary, or None: empty, over twice its tokens, an echo of `source`, a refusal, a tool call.

    A cap in characters is kept by cutting what is longer, between words.
    """
    summary = text.strip()
    if not summary or (_REFUSAL.match(summary) and len(summary) < _ECHO) or _CALL.match(summary):
        return None
    if len(summary.encode("utf-8", "surrogatepass")) > MOST_BYTES:
        return None
    characters = material.settings.summary_characters
    if characters is None and count_text(summary, material.profile.model) > 2 * summary_tokens(material):
        return None
    flat, heard = " ".join(summary.split()), " ".join(source.split())
    asked = WORDING[material.language].summarise.split("{")[0]
    if asked in flat or (len(flat) > _ECHO and flat in heard):
        return None
    return summary if characters is None else cut(summary, characters) or None


def appended(summary: str, new: str, settings: MemorySettings) -> str:
    """The new summary behind the earlier ones; the oldest text goes, cut between words, where all are too long."""
    both = f"{summary}\n{new}" if summary else new
    over = len(both) - settings.summary_kept_characters
    return without_first_run(both[over - 1 :]).lstrip() if over > 0 else both


def _room(material: Material, summary: str) -> int:
    """Tokens of work that fit beside the instructions and the longest summary that may stand there, reply kept free."""
    empty = summary_request(material, summary, "")
    fixed = sum(count_message(message, material.profile.model) for message in empty)
    known = count_text(summary, material.profile.model)
    reserve = summary_tokens(material) + max(0, 2 * summary_tokens(material) - known)
    return material.budget - fixed - reserve - 16  # joints between the parts count a few tokens themselves


def _fair_share(lengths: Sequence[int], room: int) -> int:
    """The length to which the longest must be cut so that all fit the room together; short ones stay whole."""
    left = len(lengths)
    for length in sorted(lengths):
        if length * left > room:
            return max(1, room // left)
        room -= length
        left -= 1
    return max(lengths, default=0)


def _entries(material: Material, place: int) -> Iterator[str]:
    """What was said, called and returned in one group, one text each."""
    said = WORDING[material.language]
    names: dict[str, str] = {}
    for message in material.units[place].messages:
        if isinstance(message, AIMessage):
            if text := text_of(message).strip():
                yield said.said.format(text=text)
            for call in message.tool_calls:
                names[call["id"] or ""] = call["name"]
                yield said.call.format(tool=call["name"], args=dumps(call["args"], ensure_ascii=False, default=str))
        elif isinstance(message, ToolMessage):
            form = said.failure if message.status == "error" else said.result
            text = shorten(material.original(message), _READ // 2, _READ // 2, language=material.language)
            yield form.format(tool=names.get(message.tool_call_id, ""), text=text)


def _parts(text: str, room: int, model: str) -> Iterator[str]:
    """The text in parts of at most `room` tokens, cut between words; a run too long for any part is left out."""
    while text := text.lstrip():
        size = min(len(text), room * 4)
        while (part := cut(text, size)) and (tokens := count_text(part, model)) > room:
            size = len(part) * room * 49 // (tokens * 50)  # close below, or the last part would have to go
        if part:
            yield part
        text = text[len(part) :] if part else without_first_run(text)


def _characters(text: str, tokens: int, model: str) -> int:
    """About how many characters of this text make so many tokens."""
    sample = text[:4_000]
    return int(tokens * len(sample) / max(1, count_text(sample, model)))
