"""One sentence of reflection on a step: when it is wanted, what is asked, and what of the answer is kept."""

import re
from collections.abc import Mapping, Sequence
from json import dumps

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from loopwright.language import Language, language_of
from loopwright.memory.clipping import clip, cut
from loopwright.memory.wording import WORDING
from loopwright.settings import MemorySettings
from loopwright.shapes import View
from loopwright.transcript import groups, last_reply, last_user, text_of

LONGEST = 160
"""Characters of a reflection that are kept."""
MOST = 5
"""Reflections that a view holds: those on the newest steps."""
_READ = 600
"""Characters of the task, of a call and of a result that are looked at."""
_CALL = re.compile(r"(?s)\W*(<tool_call|<function|```(?:json)?\s*\{|\{)")


def unreflected(messages: Sequence[AnyMessage], view: View, settings: MemorySettings) -> str:
    """Id of the newest step, where a reflection on it is wanted and not there yet; else empty.

    A step is a reply with calls that are all answered; it failed when a result of it is an error.
    """
    reply = last_reply(messages)
    if settings.steps != "triples" or settings.reflection == "off" or reply is None or not reply.tool_calls:
        return ""
    if not reply.id or reply.id in view.get("reflections", {}):
        return ""
    failed = any(result.status == "error" for result in _results(messages, reply))
    return reply.id if failed or settings.reflection == "always" else ""


def reflection_request(messages: Sequence[AnyMessage], reply_id: str) -> list[BaseMessage]:
    """The short request for a reflection on the step of this reply: one system and one user message."""
    language = language_of(messages)
    said = WORDING[language]
    reply = next(m for m in messages if m.id == reply_id and isinstance(m, AIMessage))
    task = last_user(messages)
    lines = [said.request, _short(text_of(task) if task else "", language), said.step_made]
    for call in reply.tool_calls:
        args = _short(dumps(call["args"], ensure_ascii=False, default=str), language)
        lines.append(said.call.format(tool=call["name"], args=args))
    for result in _results(messages, reply):
        form = said.failure if result.status == "error" else said.result
        lines.append(form.format(tool=result.name or "", text=_short(text_of(result), language)))
    return [SystemMessage(content=said.reflect), HumanMessage(content="\n".join(lines))]


def with_reflection(view: View, reply_id: str, text: str | None) -> View:
    """The view with the text's first line as the reflection on this step; unchanged where it says nothing usable."""
    line = next((line.strip() for line in (text or "").splitlines() if line.strip()), "")
    if not line or _CALL.match(line):
        return view
    kept: Mapping[str, str] = {**view.get("reflections", {}), reply_id: cut(line, LONGEST)}
    return {**view, "reflections": dict(list(kept.items())[-MOST:])}


def _short(text: str, language: Language) -> str:
    return clip(text, _READ // 2, _READ // 2, frozenset(), language=language)


def _results(messages: Sequence[AnyMessage], reply: AIMessage) -> list[ToolMessage]:
    unit = next((unit for unit in groups(messages) if unit.messages[0] is reply), None)
    return [m for m in unit.messages if isinstance(m, ToolMessage)] if unit else []
