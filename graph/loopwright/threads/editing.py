"""Pure: what an edit means for a state: which messages are written, and whether a run begins with them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias
from uuid import uuid4

from langchain_core.messages import AnyMessage, BaseMessage, HumanMessage, RemoveMessage

from loopwright.errors import UsageError
from loopwright.sanitise import clean_text, sanitise_message
from loopwright.threads.entering import Standing, awaits_run, entrance
from loopwright.transcript import input_id, last_user

Edit: TypeAlias = str | BaseMessage | Sequence[BaseMessage]
"""A text, or messages: one with the id of a message in the thread replaces that, any other is added behind."""


@dataclass(frozen=True)
class Change:
    """The messages to write, whether a run begins with them, and the run id to write them under."""

    messages: tuple[BaseMessage, ...]
    begins: bool
    run_id: str | None


def change_of(standing: Standing, edit: Edit | None) -> Change:
    """What an edit changes.

    A text replaces the task that the run works on; where the run has ended it is a new task. Messages replace by id or
    are added; where the last one is a user's and new, a run begins with it, as with any input. Raises UsageError.
    """
    begins = entrance(standing) == "__start__"
    if edit is None:
        return Change((), begins, standing.run_id)
    if isinstance(edit, str):
        return _text(standing, edit, begins)
    messages = [sanitise_message(message) for message in ([edit] if isinstance(edit, BaseMessage) else edit)]
    if not messages:
        raise UsageError("The edit is empty: give a text or at least one message.")
    _check_removals(standing.messages, messages)
    last = messages[-1]
    if _is_new(standing.messages, last):
        return _begun([*messages[:-1]], last)
    return Change(tuple(messages), begins, standing.run_id)


def _text(standing: Standing, text: str, begins: bool) -> Change:
    if not text.strip():
        raise UsageError("The edit is empty: give a text or at least one message.")
    user = last_user(standing.messages)
    if user is None or entrance(standing) == "finish":
        return _begun([], HumanMessage(clean_text(text)))
    replaced = user.model_copy(update={"content": clean_text(text)})
    return Change((replaced,), begins, standing.run_id)


def _begun(before: list[BaseMessage], last: BaseMessage) -> Change:
    run_id = str(uuid4())
    return Change((*before, last.model_copy(update={"id": input_id(run_id)})), True, run_id)


def _is_new(messages: Sequence[AnyMessage], last: BaseMessage) -> bool:
    known = {message.id for message in messages}
    return not isinstance(last, RemoveMessage) and awaits_run([last]) and (last.id is None or last.id not in known)


def _check_removals(messages: Sequence[AnyMessage], edit: Sequence[BaseMessage]) -> None:
    known = {message.id for message in messages}
    for message in edit:
        if isinstance(message, RemoveMessage) and message.id not in known:
            raise UsageError(f"There is no message {message.id!r} at this checkpoint to remove.")
