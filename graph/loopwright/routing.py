"""From a verdict to the next node or nodes: pure, no decision of its own."""

from collections.abc import Sequence

from langchain_core.messages import AnyMessage
from langgraph.types import Send

from loopwright.builtins import answer_from
from loopwright.language import language_of
from loopwright.memory import rare_words
from loopwright.state import Event, State, ToolTask, repeats_of
from loopwright.tooling import signature
from loopwright.transcript import last_reply, last_user, text_of

GUARD_PATHS = ["call_model", "compress_memory", "execute_tools", "ask", "finish"]
"""Where the guard can lead; given to add_conditional_edges, since an annotation with Send draws no edge."""
MOST_WORDS = 40
"""Rare words of the user's message that travel with a call."""


def after_guard(state: State) -> str | list[Send]:
    """The node that the verdict names; one Send a call for execute_tools."""
    verdict = state["verdict"]
    if verdict["go"] != "execute_tools":
        return verdict["go"]
    judged = {entry["call_id"]: entry for entry in verdict["calls"]}
    reply = last_reply(state["messages"])
    calls = [call for call in reply.tool_calls if call["id"] in judged] if reply else []
    known = _known([signature(call["name"], call["args"]) for call in calls], state["events"])
    words = _words(state["messages"])
    run = state["run"]
    tasks: list[ToolTask] = [
        {
            "call": call,
            "judged": judged[call["id"] or ""],
            "run": run["id"],
            "step": run["model_calls"],
            "known": known[signature(call["name"], call["args"])],
            "words": words,
            "language": language_of(state["messages"]),
            "decided_at": state["events"][-1]["at"],
            "repeats": repeats_of(state),
        }
        for call in calls
    ]
    for task in tasks:
        answer = answer_from(state["messages"], task["call"]["name"], task["call"]["args"])
        if answer is not None:
            task["answer"] = answer
    return [Send("execute_tools", task) for task in tasks]


def _known(signatures: Sequence[str], events: Sequence[Event]) -> dict[str, list[str]]:
    known: dict[str, list[str]] = {mark: [] for mark in signatures}
    for event in events:
        if event["kind"] == "call" and event["signature"] in known:
            known[event["signature"]].append(event["call_id"])
    return known


def _words(messages: Sequence[AnyMessage]) -> list[str]:
    user = last_user(messages)
    return sorted(rare_words([text_of(user)]))[:MOST_WORDS] if user else []
