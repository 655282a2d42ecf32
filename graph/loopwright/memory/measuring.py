"""Counts a request by part: in full, or as the last request's parts and what was said since."""

from collections.abc import Iterable, Sequence

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from loopwright.event_shapes import Event, ModelEvent
from loopwright.language import language_of
from loopwright.memory.content import is_visible
from loopwright.memory.legality import legal
from loopwright.memory.memory_block import MEMORY_ID, PINS_ID, memory_messages
from loopwright.memory.profile import PLAIN, Profile
from loopwright.memory.rendering import NOTE_ID, closing_notes, render, system_message
from loopwright.memory.seeing import DROPPED_ID
from loopwright.memory.triples import STEPS_ID
from loopwright.shapes import Parts, View
from loopwright.transcript import all_calls


def measure(request: Iterable[BaseMessage], tools_tokens: int = 0, profile: Profile = PLAIN) -> Parts:
    """Tokens of a rendered request by part; `tools_tokens` are those of the schemas sent with it (see `count_tools`).

    system: the system message and our own notes; summary: the memory block and the user's pins; pinned: the user's
    messages; recent: the rest. Where the profile joins messages, a joined one counts as what it began with.
    """
    parts: Parts = {"system": 0, "tools": tools_tokens, "summary": 0, "pinned": 0, "recent": 0}
    for message in request:
        tokens = profile.count(message)
        if isinstance(message, SystemMessage) or message.id == NOTE_ID:
            parts["system"] += tokens
        elif message.id in (MEMORY_ID, PINS_ID):
            parts["summary"] += tokens
        elif isinstance(message, HumanMessage) and message.id not in (DROPPED_ID, STEPS_ID):
            parts["pinned"] += tokens
        else:
            parts["recent"] += tokens
    return parts


def total(parts: Parts) -> int:
    """Tokens of the whole request."""
    return parts["system"] + parts["tools"] + parts["summary"] + parts["pinned"] + parts["recent"]


def measure_next(
    messages: Sequence[BaseMessage],
    view: View,
    events: Sequence[Event],
    *,
    system_prompt: str,
    nudge: str = "",
    tools_tokens: int = 0,
    profile: Profile = PLAIN,
) -> Parts:
    """Tokens of the next request, equal to a full measure, but usually in the time the new messages take.

    Starts from the last model event behind the last begin and compression events. Measures in full when there is none,
    or when what came since could change what stands before it: another user message, the result of an earlier call.
    """
    told = profile.alternate or profile.observation_characters is not None  # then a new step changes earlier ones
    base = None if told or not _begins_plainly(messages) else _base(events)
    since = _since(messages, base["message_id"]) if base else None
    language = language_of(messages)
    new = legal(since, language) if since else []
    if base is None or not new:
        request = render(messages, view, system_prompt=system_prompt, nudge=nudge, profile=profile)
        return measure(request, tools_tokens, profile)
    ours: list[BaseMessage] = [*system_message(messages, system_prompt, "" if profile.nudge_as_user else nudge)]
    ours += closing_notes(new, nudge, profile, language)
    return {
        "system": sum(profile.count(message) for message in ours),
        "tools": tools_tokens,
        "summary": sum(profile.count(message) for message in memory_messages(view, language)),
        "pinned": base["parts"]["pinned"],
        "recent": base["parts"]["recent"] + sum(profile.count(message) for message in new),
    }


def _begins_plainly(messages: Sequence[BaseMessage]) -> bool:
    """Whether the transcript begins with a user message, as nearly all do: no note of ours stands before it."""
    return bool(messages) and isinstance(messages[0], HumanMessage) and is_visible(messages[0].content)


def _base(events: Sequence[Event]) -> ModelEvent | None:
    for event in reversed(events):
        if event["kind"] == "model":
            return event if event["message_id"] else None
        if event["kind"] in ("begin", "compression"):
            return None
    return None


def _since(messages: Sequence[BaseMessage], message_id: str) -> Sequence[BaseMessage] | None:
    """The messages from this one on, if they are replies and their results, nothing else."""
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        if message.id == message_id:
            return messages[place:] if _self_contained(messages[place:]) else None
    return None


def _self_contained(messages: Sequence[BaseMessage]) -> bool:
    """Whether these are replies and the results of their own calls: nothing that could change what stands before."""
    asked: set[str] = set()
    for message in messages:
        if isinstance(message, AIMessage):
            asked.update(call["id"] or "" for call in all_calls(message))
        elif not isinstance(message, ToolMessage) or message.tool_call_id not in asked:
            return False
    return True
