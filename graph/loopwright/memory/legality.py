"""Puts any transcript into the form that every provider accepts: each call answered once, right behind it."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import TypeAlias, TypeVar

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    HumanMessage,
    InvalidToolCall,
    SystemMessage,
    ToolCall,
    ToolMessage,
)
from langchain_core.messages.tool import tool_call

from loopwright.language import Language, language_of
from loopwright.memory.content import is_parts, is_visible, with_parts
from loopwright.memory.markup import without_markup
from loopwright.memory.wording import WORDING, Wording
from loopwright.transcript import all_calls, call_id, text_of

Spoken: TypeAlias = HumanMessage | AIMessage | ToolMessage
"""What a legal transcript consists of; the one system message is added by the renderer."""
_M = TypeVar("_M", HumanMessage, AIMessage)

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")
_LONGEST_ID = 40
_OLD_CALLS = frozenset({"tool_calls", "function_call"})
_ROLES = {"user": "user", "human": "user", "assistant": "assistant", "ai": "assistant", "system": "system",
          "developer": "system"}  # fmt: skip


def legal(messages: Sequence[BaseMessage], language: Language | None = None) -> list[Spoken]:
    """The transcript as user, assistant and tool messages in legal order; what needs no change is the same object.

    A call without a result gets one that says so; results of no call, second results and blank messages are left out.
    System messages become marked user messages, except those at the very beginning, which `leading_system` returns.
    """
    return _Repair(messages, language).run()


def leading_system(messages: Sequence[BaseMessage]) -> list[str]:
    """The texts of the system messages that open the transcript: they belong to the system prompt."""
    texts: list[str] = []
    for message in messages:
        if not isinstance(message, SystemMessage):
            break
        texts.append(text_of(message))
    return texts


@dataclass
class _Repair:
    """One pass over a transcript. The indexes are only built where something is not in its place."""

    messages: Sequence[BaseMessage]
    language: Language | None
    used: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)

    def run(self) -> list[Spoken]:
        """The legal transcript; a plain loop for speed, since it passes over every message of every request."""
        spoken: list[Spoken] = []
        messages, size, at = self.messages, len(self.messages), len(leading_system(self.messages))
        while at < size:
            message = messages[at]
            at += 1
            if isinstance(message, AIMessage):
                if not message.tool_calls and not message.invalid_tool_calls:
                    spoken.extend(_answer(message, self.wording) if message.content else ())
                elif answers := self.in_place(message, at):
                    spoken.append(message)
                    spoken.extend(answers)
                    at += len(answers)
                else:
                    spoken.extend(self.repaired(message, at - 1))
            elif isinstance(message, HumanMessage):
                if is_visible(message.content):
                    spoken.append(_named(with_parts(message, self.wording) if is_parts(message) else message))
            elif not isinstance(message, ToolMessage):  # a tool message here answers no call, or was placed already
                spoken.extend(_translated(message, self.wording))
        return spoken

    def in_place(self, message: AIMessage, at: int) -> list[ToolMessage]:
        """The answers from `at` on, if message and answers are legal as they stand; else nothing."""
        if message.invalid_tool_calls or message.name or is_parts(message):
            return []
        used, names, answers = self.used, self.names, []
        following = self.messages[at : at + len(message.tool_calls)]
        if len(following) < len(message.tool_calls):
            return []
        ids: set[str] = set()
        for call, answer in zip(message.tool_calls, following, strict=True):
            own_id, name = call["id"], call["name"]
            if not own_id or len(own_id) > _LONGEST_ID or own_id in used or own_id in ids:
                return []
            if name not in names and not self.is_name(name):
                return []
            if not isinstance(answer, ToolMessage) or answer.tool_call_id != own_id:
                return []
            if is_parts(answer) or not is_visible(answer.content):
                return []
            ids.add(own_id)
            answers.append(answer)
        used |= ids
        return answers

    def is_name(self, name: str) -> bool:
        """Whether providers accept the tool's name; accepted ones are remembered."""
        if not _NAME.fullmatch(name):
            return False
        self.names.add(name)
        return True

    def repaired(self, message: AIMessage, at: int) -> Iterator[Spoken]:
        """The message with readable calls under unique ids, and one answer a call, found wherever it stands."""
        calls, answers = [], []
        waiting: dict[str, Iterator[ToolMessage]] = {}
        for position, call in enumerate(all_calls(message)):
            old_id = call["id"] or ""
            new_id = self.unique_id(old_id, message.id or str(at), position)
            found = waiting.setdefault(old_id, iter(self.answers_to(old_id, at)))
            calls.append(_readable(call, new_id))
            answers.append(_as_answer(next(found, None), new_id, calls[-1]["name"], self.wording))
        yield _with_calls(message, calls, self.wording)
        yield from answers

    def unique_id(self, wanted: str, message_id: str, position: int) -> str:
        """The call's own id, or a new one when that is blank or taken."""
        candidates = (call_id(f"{message_id}:again{turn}" if turn else message_id, position) for turn in count())
        fine = 0 < len(wanted) <= _LONGEST_ID and wanted not in self.used
        chosen = wanted if fine else next(candidate for candidate in candidates if candidate not in self.used)
        self.used.add(chosen)
        return chosen

    def answers_to(self, old_id: str, at: int) -> list[ToolMessage]:
        """The tool messages that answer this id behind `at`, before another message asks under the same id."""
        askers, answers = self.index
        until = next((place for place in askers[old_id] if place > at), len(self.messages))
        return [answer for place, answer in answers[old_id] if at < place < until] if old_id else []

    @cached_property
    def index(self) -> tuple[dict[str, list[int]], dict[str, list[tuple[int, ToolMessage]]]]:
        """Where each id is asked under, and where it is answered."""
        askers: dict[str, list[int]] = defaultdict(list)
        answers: dict[str, list[tuple[int, ToolMessage]]] = defaultdict(list)
        for place, message in enumerate(self.messages):
            if isinstance(message, ToolMessage):
                answers[message.tool_call_id].append((place, message))
            elif isinstance(message, AIMessage):
                for call in all_calls(message):
                    askers[call["id"] or ""].append(place)
        return askers, answers

    @cached_property
    def wording(self) -> Wording:
        return WORDING[self.language or language_of(self.messages)]


def _answer(message: AIMessage, wording: Wording) -> Iterator[AIMessage]:
    """A message without calls, if it says anything: without calls written as text, or kept where older formats do."""
    if not is_visible(message.content):
        return
    if isinstance(message.content, str):
        said = without_markup(message.content, wording.written_call)
        if said != message.content:
            message = message.model_copy(update={"content": said})
    old_calls = message.additional_kwargs and not _OLD_CALLS.isdisjoint(message.additional_kwargs)
    yield _with_calls(message, [], wording) if old_calls or message.name or is_parts(message) else message


def _with_calls(message: AIMessage, calls: list[ToolCall], wording: Wording) -> AIMessage:
    """The message with these calls, or itself when it has them already."""
    plain = _named(with_parts(message, wording))
    if plain is message and calls == message.tool_calls and _OLD_CALLS.isdisjoint(message.additional_kwargs):
        return message
    rest = {key: value for key, value in message.additional_kwargs.items() if key not in _OLD_CALLS}
    return AIMessage(content=plain.content, id=message.id, name=plain.name, tool_calls=calls, additional_kwargs=rest)


def _named(message: _M) -> _M:
    """The message with a name that providers accept, if it has one."""
    if not message.name or _NAME.fullmatch(message.name):
        return message
    return message.model_copy(update={"name": _NOT_IN_NAMES.sub("_", message.name)[:64]})


def _readable(call: ToolCall | InvalidToolCall, new_id: str) -> ToolCall:
    """The call with a name and arguments that servers can parse: a raw text that is no JSON object becomes one."""
    name, args = call["name"] or "", call["args"]
    if not _NAME.fullmatch(name):
        name = _NOT_IN_NAMES.sub("_", name)[:64] or "unnamed"
    return tool_call(name=name, args=args if isinstance(args, dict) else {"unreadable": args or ""}, id=new_id)


def _as_answer(found: ToolMessage | None, new_id: str, name: str, wording: Wording) -> ToolMessage:
    """The result under its call's id; a sentence where there is none, or an empty one."""
    if found is None:
        text = wording.no_result
        return ToolMessage(content=text, tool_call_id=new_id, name=name, status="error", id=f"result-{new_id}")
    if not is_visible(found.content):
        return found.model_copy(update={"content": wording.empty_result, "tool_call_id": new_id})
    plain = with_parts(found, wording)
    return plain if plain.tool_call_id == new_id else plain.model_copy(update={"tool_call_id": new_id})


def _translated(message: BaseMessage, wording: Wording) -> Iterator[Spoken]:
    """A message of another kind as a user or assistant message; results of the old function calls answer nothing."""
    text = text_of(message)
    if not isinstance(message, SystemMessage | ChatMessage) or not text.strip():
        return
    role = _ROLES.get(message.role.lower(), "") if isinstance(message, ChatMessage) else "system"
    if role == "assistant":
        yield AIMessage(content=text, id=message.id)
    elif role == "user":
        yield HumanMessage(content=text, id=message.id)
    elif role == "system":
        yield HumanMessage(content=wording.system_note.format(text=text), id=message.id)
    elif isinstance(message, ChatMessage):
        yield HumanMessage(content=wording.other_role.format(role=message.role, text=text), id=message.id)
