"""Opens a run, or extends the last one, and answers the calls that an earlier step left open."""

import logging
import time
from collections.abc import Sequence
from uuid import uuid4

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, RemoveMessage, ToolMessage
from langgraph.config import get_config
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from loopwright.effects import Journal
from loopwright.errors import UsageError
from loopwright.events import publish, stamp
from loopwright.language import language_of
from loopwright.layout import check_format, check_whole
from loopwright.node import thread_here
from loopwright.nodes.call_event import call_event
from loopwright.nodes.wiring import Wiring, verdict
from loopwright.policies.limits import check_extension
from loopwright.sanitise import sanitise_message
from loopwright.state import FORMAT, BeginEvent, Event, Run, State, Update, extend_of, run_of, verdict_of
from loopwright.steps import Core
from loopwright.tooling import Outcome, effect_of, result_message, signature
from loopwright.tooling.wording import told
from loopwright.transcript import answered_twice, open_calls

log = logging.getLogger("loopwright")


def begin(wiring: Wiring, state: State) -> Core[Update]:
    """Begin a run with the new message, go on with the last one under larger limits, or change nothing."""
    started = time.perf_counter()
    messages = state.get("messages") or []
    old, extend = run_of(state), extend_of(state)
    check_format(old, thread_here() or "")
    if old is not None:
        check_whole(old, state.get("events") or [])
    new_input = bool(messages) and not isinstance(messages[-1], AIMessage | ToolMessage)
    if not new_input and old is not None and not _reopens(old, extend):
        return {}
    if not messages:
        raise UsageError("There is nothing to begin with: send a message, or extend a run that exists.")
    delivery = _delivery(messages)
    if new_input or old is None:
        run = _opened(old, delivery, {**wiring.settings_now().limits(), **(extend or {})})
    else:
        run = _extended(old, extend or {})
    answers, events = yield from _close_open_calls(wiring, run, messages, _sent(state))
    event: BeginEvent = {
        **stamp(run["id"], run["model_calls"], started),
        "kind": "begin",
        "delivery": delivery,
        "extend": dict(extend) if extend is not None else None,
    }
    run["seen"] = len(state.get("events") or []) + len(events) + 1
    run["length"] = len(messages) + len(answers)
    update: Update = {"events": publish(*events, event), "run": run, "verdict": verdict("call_model")}
    if written := _written(messages, answers):
        update["messages"] = written
    if twice := answered_twice(messages):
        log.warning("Calls with more than one result: %s. The first one is sent, the others stay in the thread.", twice)
    return update


def _reopens(old: Run, extend: dict[str, float] | None) -> bool:
    """Whether an input without a message goes on with the last run: with larger limits, or after it failed."""
    return bool(extend) or (extend is not None and old["status"] == "failed")


def _delivery(messages: Sequence[AnyMessage]) -> str:
    """The id under which this input was delivered: the caller's run id, else one made from the message's id."""
    config = get_config()
    run_id = config.get("metadata", {}).get("run_id") or config.get("run_id")
    return str(run_id or messages[-1].id or uuid4())


def _opened(old: Run | None, delivery: str, limits: dict[str, float]) -> Run:
    return {
        "format": FORMAT,
        "id": delivery,
        "number": old["number"] + 1 if old else 1,
        "status": "running",
        "limits": limits,
        "model_calls": 0,
        "tool_calls": 0,
        "tokens_in": 0,
        "tokens_out": 0,
        "cost_usd": None,
        "working_seconds": 0.0,
        "errors_in_row": 0,
        "invalid_in_row": 0,
        "shortened": old["shortened"] if old else 0,
        "seen": 0,
        "length": 0,
        "stop": None,
    }


def _extended(old: Run, extend: dict[str, float]) -> Run:
    check_extension(old, extend)
    limits = {**old["limits"], **extend}
    return {**old, "status": "running", "limits": limits, "errors_in_row": 0, "invalid_in_row": 0, "stop": None}


def _written(messages: Sequence[AnyMessage], answers: Sequence[ToolMessage]) -> list[AnyMessage | RemoveMessage]:
    """The cleaned input and the answers to open calls.

    These stand behind their calls, so that the whole is written anew, with every id kept, where the user has spoken
    since: the one time that a transcript is not only appended to.
    """
    cleaned = _cleaned(messages)
    at = next((i for i in range(len(messages), 0, -1) if isinstance(messages[i - 1], AIMessage | ToolMessage)), 0)
    if not answers or at == len(messages):
        return [*cleaned, *answers]
    new = {message.id: message for message in cleaned}
    rest = [new.get(message.id, message) for message in messages[at:]]
    return [RemoveMessage(REMOVE_ALL_MESSAGES), *messages[:at], *answers, *rest]


def _cleaned(messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """The new user messages whose text had to be cleaned; they replace those of the same id."""
    changed: list[AnyMessage] = []
    for message in reversed(messages):
        if not isinstance(message, HumanMessage):
            break
        clean = sanitise_message(message)
        if clean is not message:
            changed.append(clean)
    return changed


def _sent(state: State) -> frozenset[str]:
    """The calls that the guard sent to their tools last, those aside that a person was to be asked about first."""
    last = verdict_of(state)
    if last is None or last["go"] != "execute_tools":
        return frozenset()
    return frozenset(each["call_id"] for each in last["calls"] if each["rung"] != "ask")


def _close_open_calls(
    wiring: Wiring, run: Run, messages: Sequence[AnyMessage], sent: frozenset[str]
) -> Core[tuple[list[ToolMessage], list[Event]]]:
    """Answer every open call of the last reply: from the journal if it is there, else as not run.

    One of `sent` that no journal knows of may have run all the same, which its text says.
    """
    answers: list[ToolMessage] = []
    events: list[Event] = []
    journal = Journal.here()
    language = language_of(messages)
    for call in open_calls(messages):
        args = call["args"] if isinstance(call["args"], dict) else {"": call["args"]}
        name, call_id, started = call["name"] or "", call["id"] or "", time.perf_counter()
        mark = signature(name, args)
        journaled = journal is not None and effect_of(wiring.toolbox.policy(name)) == "write"
        outcome = Outcome("not_run", told("no_result" if call_id in sent and not journaled else "left", language))
        if journal is not None and journaled:
            record = (yield from journal.lookup(call_id, mark, ())).own_record
            if record is not None:
                outcome = wiring.journaled(record, language)
        answers.append(result_message(call_id, name, outcome))
        event = call_event(
            run["id"],
            run["model_calls"],
            started,
            call_id=call_id,
            tool=name,
            effect=wiring.effect(name),
            signature=mark,
            outcome=outcome,
        )
        events.append(event)
    return answers, events
