"""Pure: under which node's name a state is written so that what comes next is right."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, ToolMessage
from langgraph.types import StateSnapshot

from loopwright.delivery import run_id_of
from loopwright.state import run_of

Entrance: TypeAlias = Literal["__start__", "guard", "call_model", "finish"]
"""`__start__` leads to begin, `call_model` to the guard, `guard` to where its verdict leads, `finish` to the end."""

DELTAS = ("messages", "events", "view")
"""Channels whose writes are added to what is there."""
PLAIN = ("run", "verdict", "repeats", "answer", "stop")
"""Channels whose writes replace what is there."""


@dataclass(frozen=True)
class Standing:
    """A state and where it leads: `values` by channel, `next` the nodes to come, `run_id` its delivery's."""

    values: Mapping[str, Any]
    next: tuple[str, ...]
    run_id: str | None

    @property
    def messages(self) -> Sequence[AnyMessage]:
        """The transcript."""
        found: Sequence[AnyMessage] = self.values.get("messages", [])
        return found


def standing_of(snapshot: StateSnapshot) -> Standing:
    """The standing of a snapshot."""
    return Standing(snapshot.values, snapshot.next, run_id_of(snapshot))


def entrance(standing: Standing) -> Entrance:
    """How this state is entered again.

    An input that no run has begun with leads to begin, an ended run to the end, and a step in which tools ran back to
    the guard, which looks at the calls that are still open. Elsewhere the guard's verdict stands as it is.
    """
    run = run_of(standing.values)
    ended = run is None or run["status"] != "running"
    if {"begin", "__start__"} & set(standing.next) or (ended and not standing.next and awaits_run(standing.messages)):
        return "__start__"
    if ended:
        return "finish"
    return "guard" if standing.next and not {"guard", "execute_tools"} & {*standing.next} else "call_model"


def awaits_run(messages: Sequence[BaseMessage]) -> bool:
    """Whether the transcript ends with what a user said, so that begin opens a run."""
    return bool(messages) and not isinstance(messages[-1], AIMessage | ToolMessage)


def whole(values: Mapping[str, Any]) -> dict[str, Any]:
    """A state as one update of an empty thread."""
    return {name: values[name] for name in (*DELTAS, *PLAIN) if name in values and values[name] not in (None, {})}


def difference(now: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """What has to be written to `before` to make it `now`: what a step in progress has finished."""
    changed = {name: now[name] for name in ("view", *PLAIN) if name in now and now[name] != before.get(name)}
    known = {message.id: message for message in before.get("messages", [])}
    messages = [message for message in now.get("messages", []) if known.get(message.id) != message]
    events = now.get("events", [])[len(before.get("events", [])) :]
    return {**changed, **({"messages": messages} if messages else {}), **({"events": events} if events else {})}
