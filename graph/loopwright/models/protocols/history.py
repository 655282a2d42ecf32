"""Rewrites a request for a text protocol: the form in the system message, past calls and results as text."""

from collections.abc import Iterator, Sequence

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolCall, ToolMessage

from loopwright.models.protocols.form import RESULT, Form, dumped
from loopwright.models.protocols.text_tools import TextTools
from loopwright.models.replies import PROTOCOL
from loopwright.transcript import Group, groups, text_of

UNREADABLE = "unreadable"
"""The one argument under which a legal transcript keeps a call that could not be read."""
LONGEST_INPUT = 200
"""Characters of a call's arguments that are said again with its result."""
_IGNORED = "(Your reply held {count} more JSON objects, which counted nothing: write one a reply.)"


def as_text(request: Sequence[BaseMessage], instructed: str, form: Form, tools: TextTools) -> list[BaseMessage]:
    """The request as one system message and user and assistant messages in turn, none of which holds a tool call.

    A reply of the wrong format is left out with its reminder once a usable one follows it.
    """
    systems = [text_of(message) for message in request if isinstance(message, SystemMessage)]
    system = "\n\n".join(text for text in (*systems, instructed) if text.strip())
    spoken = [message for message in request if isinstance(message, HumanMessage | AIMessage | ToolMessage)]
    units = list(groups(spoken))
    usable = max((place for place, unit in enumerate(units) if _is_usable(unit)), default=-1)
    told = [
        message
        for place, unit in enumerate(units)
        if place > usable or not _is_wrong(unit)
        for message in _told(unit, form, tools)
    ]
    return [*([SystemMessage(content=system)] if system else []), *_in_turn(told)]


def texts_of(reply: AIMessage, form: Form, tools: TextTools) -> list[str]:
    """The texts of the messages that an assistant message becomes: its own, and the frames of its results."""
    if not reply.tool_calls:
        return [form.answer(text_of(reply), tools)]
    thoughts = [text_of(reply), *[""] * len(reply.tool_calls)]
    replies = [
        form.call(call["name"], call["args"], thought, tools)
        for call, thought in zip(reply.tool_calls, thoughts, strict=False)
    ]
    return [*replies, *(f"{_action(call)} | {RESULT}=" for call in reply.tool_calls)]


def _is_wrong(unit: Group) -> bool:
    """Whether this is a reply none of whose calls could be read."""
    reply = unit.messages[0]
    if not isinstance(reply, AIMessage):
        return False
    return bool(reply.invalid_tool_calls or reply.tool_calls) and all(
        set(call["args"]) == {UNREADABLE} for call in reply.tool_calls
    )


def _is_usable(unit: Group) -> bool:
    return isinstance(unit.messages[0], AIMessage) and not _is_wrong(unit)


def _told(unit: Group, form: Form, tools: TextTools) -> Iterator[HumanMessage | AIMessage]:
    reply = unit.messages[0]
    if isinstance(reply, HumanMessage):
        yield reply
    elif isinstance(reply, ToolMessage):  # a result whose call is not in the request
        yield HumanMessage(content=f"{RESULT}={text_of(reply)}")
    elif isinstance(reply, AIMessage) and not reply.tool_calls and not reply.invalid_tool_calls:
        yield AIMessage(content=form.answer(text_of(reply), tools))
    elif isinstance(reply, AIMessage):
        yield from _steps(reply, unit.messages[1:], form, tools)


def _steps(
    reply: AIMessage, results: Sequence[BaseMessage], form: Form, tools: TextTools
) -> Iterator[HumanMessage | AIMessage]:
    """One exchange a call, since a reply holds one action; the thought stands with the first."""
    answers = {message.tool_call_id: message for message in results if isinstance(message, ToolMessage)}
    thought = text_of(reply)
    for bad in reply.invalid_tool_calls:
        yield AIMessage(content=bad["args"] or dumped({"action": bad["name"]}))
        yield HumanMessage(content=_result(None, answers.get(bad["id"] or "")))
    for call in reply.tool_calls:
        wrong = set(call["args"]) == {UNREADABLE}
        written = str(call["args"][UNREADABLE]) if wrong else form.call(call["name"], call["args"], thought, tools)
        yield AIMessage(content=written or "{}")
        yield HumanMessage(content=_result(None if wrong else call, answers.get(call["id"] or "")))
        thought = ""
    ignored = reply.response_metadata.get(PROTOCOL, {}).get("ignored")
    if ignored:
        yield HumanMessage(content=_IGNORED.format(count=ignored))


def _result(call: ToolCall | None, result: ToolMessage | None) -> str | list[str | dict[str, object]]:
    """A result behind the call that it is of; what answers a reply of the wrong format stands alone."""
    text = text_of(result) if result is not None else "There is no result."
    said = f"{_action(call)} | {RESULT}={text}" if call else text
    if result is None or isinstance(result.content, str):
        return said
    others = [block for block in result.content if isinstance(block, dict) and block.get("type") != "text"]
    return [{"type": "text", "text": said}, *others] if others else said


def _action(call: ToolCall) -> str:
    """The call in one line, as in a memory of steps, so that a result is understood without the reply before it."""
    given = dumped(call["args"])
    if len(given) > LONGEST_INPUT:
        given = f"{given[:LONGEST_INPUT]}...}}"
    return f"Action={call['name']}({given})"


def _in_turn(told: Sequence[HumanMessage | AIMessage]) -> Iterator[BaseMessage]:
    """The messages with neighbours of one role joined: many templates of local models demand turns."""
    waiting: list[HumanMessage | AIMessage] = []
    for message in told:
        if waiting and type(message) is not type(waiting[0]):
            yield _joined(waiting)
            waiting = []
        waiting.append(message)
    if waiting:
        yield _joined(waiting)


def _joined(messages: Sequence[HumanMessage | AIMessage]) -> BaseMessage:
    if len(messages) == 1:
        return messages[0]
    kind = type(messages[0])
    if all(isinstance(message.content, str) for message in messages):
        return kind(content="\n\n".join(text_of(message) for message in messages))
    blocks: list[str | dict[str, object]] = []
    for message in messages:
        if isinstance(message.content, str):
            blocks.append({"type": "text", "text": message.content})
        else:
            blocks += message.content
    return kind(content=blocks)
