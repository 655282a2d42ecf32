"""What a folded call said that may still be needed: its ids, numbers and lines, those in use before others."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from json import dumps

from langchain_core.messages import AIMessage, ToolCall, ToolMessage

from loopwright.language import Language
from loopwright.memory.clipping import cut, matching_pieces, terms
from loopwright.memory.wording import WORDING
from loopwright.shapes import Fact
from loopwright.transcript import Group, text_of

MOST = 300
"""Characters of one fact."""
GIST = 150
"""Characters that a fact keeps when not all have room whole: what stands first in it, which is used most."""
_JOINT = "; "
_ARGUMENTS = 80
_REASON = 160
_LINES = 150
"""Characters of a fact for its call's arguments, for the reason of a failure, for lines that hold words in use."""
_TOKEN = re.compile(r"(?:[^\s\"'`,;(){}\[\]<>=|\u3000-\u30ff\u3400-\u9fff\uff00-\uff0f\uff1a-\uff20]|(?<=\d),(?=\d))+")

_CODE = re.compile(r"[A-Z]{2,8}")


def facts(
    group: Group,
    words: AbstractSet[str],
    later_arguments: AbstractSet[str],
    *,
    originals: Mapping[str, str],
    summaries: Mapping[str, str] = {},
    language: Language = "en",
) -> list[Fact]:
    """One fact a call of this legal group, at most 300 characters each, whole words only; a failure with its reason.

    `words` are those of the user's messages, `later_arguments` those that later calls used: the latter come first.
    `summaries` holds what a model said of a result, by call id. An answer without calls is a fact too.
    """
    reply = group.messages[0]
    if not isinstance(reply, AIMessage):
        return []
    if not reply.tool_calls:
        gist = _gist(text_of(reply), words, later_arguments, MOST)
        return [{"call_id": reply.id or "", "tool": WORDING[language].answered, "text": gist}] if gist else []
    answers = {message.tool_call_id: message for message in group.messages if isinstance(message, ToolMessage)}
    found: list[Fact] = []
    for call in reply.tool_calls:
        answer = answers.get(call["id"] or "")
        asked = _arguments(call)
        if answer is not None:
            text = originals.get(answer.tool_call_id) or text_of(answer)
            if answer.tool_call_id in summaries:
                said = cut(summaries[answer.tool_call_id], MOST - len(asked) - 2)
            elif answer.status == "error":
                said = WORDING[language].failed.format(reason=_line(cut(text, _REASON)))
            else:
                said = _gist(text, words, later_arguments, MOST - len(asked) - 2)
            found.append({"call_id": answer.tool_call_id, "tool": call["name"], "text": f"{asked}: {said}"})
    return found


def trimmed(
    ledger: Sequence[Fact],
    used: AbstractSet[str],
    *,
    room_bytes: int,
    room_tokens: int,
    cost: Callable[[Fact], int],
) -> list[Fact]:
    """The ledger within both rooms: the facts that share most with `used` come first, of equals the newer; in order.

    First each fact gets room for its beginning, then for the rest. `cost` tells the tokens of a fact's line.
    """
    use = [len(terms(fact["text"]) & used) for fact in ledger]
    by_use = sorted(range(len(ledger)), key=lambda place: (-use[place], -place))
    kept: dict[int, Fact] = {}
    for forms in ([_shortened(fact) for fact in ledger], ledger):
        for place in by_use:
            before = kept.get(place)
            if before is forms[place]:
                continue
            size = _bytes(forms[place]) - (_bytes(before) if before else 0)
            tokens = cost(forms[place]) - (cost(before) if before else 0)
            if size <= room_bytes and tokens <= room_tokens:
                kept[place] = forms[place]
                room_bytes -= size
                room_tokens -= tokens
    return [kept[place] for place in sorted(kept)]


def _shortened(fact: Fact) -> Fact:
    """The fact's beginning, cut between its parts; the fact itself where it is short or has no parts."""
    end = fact["text"].rfind(_JOINT, 0, GIST + 1) if len(fact["text"]) > GIST else -1
    return {**fact, "text": fact["text"][:end]} if end > 0 else fact


def _bytes(fact: Fact) -> int:
    return len(dumps(fact, ensure_ascii=False).encode("utf-8", "surrogatepass")) + 2


def _arguments(call: ToolCall) -> str:
    pairs = (f"{key}={dumps(value, ensure_ascii=False, default=str)}" for key, value in call["args"].items())
    return cut(_line(", ".join(pairs)), _ARGUMENTS)


def _gist(text: str, words: AbstractSet[str], later: AbstractSet[str], room: int) -> str:
    """What is worth keeping of a text: all of a short one, else ids in use, lines that hold words in use, other ids."""
    if len(text) <= room:
        return _line(text)
    ids = dict.fromkeys(_ids(text))
    in_use = [token for token in ids if not terms(token).isdisjoint(later)]
    lines = [_line(piece) for piece in matching_pieces(text, _LINES, later or words)]
    lines += [piece for piece in map(_line, matching_pieces(text, _LINES, words)) if piece not in lines]
    chosen: list[str] = []
    left = room
    for part in (*in_use, *lines, *ids):
        if len(part) + 2 <= left and not any(part in taken for taken in chosen):
            chosen.append(part)
            left -= len(part) + 2
    return _JOINT.join(chosen)


def _ids(text: str) -> Iterator[str]:
    """The text's ids and paths, then its numbers, dates and codes: later calls name the former more often."""
    others: list[str] = []
    for match in _TOKEN.finditer(text):
        token = match.group().strip(".:!?*#-")
        if len(token) > _ARGUMENTS:
            continue
        has_digit = any(character.isdigit() for character in token)
        if (has_digit and any(character.isalpha() for character in token)) or ("/" in token and len(token) > 3):
            yield token
        elif has_digit or "_" in token or _CODE.fullmatch(token):
            others.append(token)
    yield from others


def _line(text: str) -> str:
    return " ".join(text.split())
