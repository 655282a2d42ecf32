"""Puts calls where they belong: those that were written as text, and those under a name that is a bit off."""

import re
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.messages.tool import tool_call

from loopwright.models.replies import Reply
from loopwright.models.text_calls import TextCall, calls_in
from loopwright.sanitise import sanitise
from loopwright.transcript import call_id

AS_WRITTEN = "as_written"
"""Where a message keeps, in its `response_metadata`, what was changed: `text`, and tool `names` by call id."""
_PREFIX = re.compile(r"[.:/]")


def rescue(reply: Reply, tools: Mapping[str, Collection[str]]) -> Reply:
    """The reply with its calls under the names of the bound tools, those it wrote as text among them.

    `tools` maps the bound tools' names to those of their arguments. A call written as text becomes one when the reply
    is nothing but calls that parse whole, each of a bound tool, with at most a short lead in front; a reply that was
    cut off, refused or filtered is left alone. The text of the calls leaves the content, since models imitate it, and
    stays in `response_metadata` (which is never sent) with the names that were changed.
    """
    if reply.message is None:
        return reply
    message = _under_their_names(reply.message, tools)
    if reply.failure is not None or message.tool_calls or message.invalid_tool_calls:
        return replace(reply, message=message)
    found = calls_in(message.text, lambda name: resolved(name, tools), tools)
    if found is None:
        return reply
    lead, calls = found
    return replace(reply, message=_with_calls(message, lead, calls), rescued=len(calls))


def resolved(name: str, tools: Collection[str]) -> str | None:
    """The bound tool that a name means: its own, or the only one it equals but for case, form and a prefix.

    So `functions.calculator`, `default_api:calculator`, `Calculator` and full-width letters all mean `calculator`.
    """
    if name in tools:
        return name
    for wanted in (_plain(name), _plain(_PREFIX.split(name)[-1])):
        same = [tool for tool in tools if _plain(tool) == wanted]
        if len(same) == 1:
            return same[0]
    return None


def _plain(name: str) -> str:
    """A name without case, form, and the control tokens that some models leave behind it."""
    return unicodedata.normalize("NFKC", name).split("<|")[0].strip().casefold().replace("-", "_")


def _under_their_names(message: AIMessage, tools: Collection[str]) -> AIMessage:
    names: dict[str, str] = {}
    calls = []
    for call in message.tool_calls:
        meant = resolved(call["name"], tools)
        if meant is not None and meant != call["name"]:
            names[call["id"] or ""] = call["name"]
            call = tool_call(name=meant, args=call["args"], id=call["id"])
        calls.append(call)
    return _keeping(message, {"names": names}, tool_calls=calls) if names else message


def _with_calls(message: AIMessage, lead: str, calls: list[TextCall]) -> AIMessage:
    made = [
        tool_call(name=call.name, args=sanitise(call.args), id=call_id(message.id or "", position))
        for position, call in enumerate(calls)
    ]
    content: Any = lead
    if not isinstance(message.content, str):  # thinking and the like stay in front of the lead
        others = [part for part in message.content if isinstance(part, dict) and part.get("type") != "text"]
        content = [*others, {"type": "text", "text": lead}] if lead else others
    return _keeping(message, {"text": message.text}, content=content, tool_calls=made)


def _keeping(message: AIMessage, written: dict[str, Any], **changes: Any) -> AIMessage:
    """The message changed, with what was written kept in its metadata."""
    metadata = {**message.response_metadata, AS_WRITTEN: written}
    return message.model_copy(update={**changes, "response_metadata": metadata})
