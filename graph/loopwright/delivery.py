"""Pure: from what a thread holds and what is asked of it to what the graph is given: input, answers, or nothing."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias
from uuid import uuid4

from langchain_core.messages import (
    AnyMessage,
    BaseMessage,
    HumanMessage,
    MessageLikeRepresentation,
    convert_to_messages,
)
from langchain_core.runnables import RunnableConfig
from langgraph.constants import START
from langgraph.types import Command, StateSnapshot

from loopwright.context import Context
from loopwright.errors import BadDecision, DeliveryConflict, UnknownThread, UsageError
from loopwright.layout import check_format
from loopwright.nodes.ask import extension_problem
from loopwright.nodes.questions import EXPIRED, expired, read_decision, unfit, unwrapped
from loopwright.policies.limits import check_extension
from loopwright.sanitise import clean_text, sanitise_message
from loopwright.state import Event, Run, run_of
from loopwright.transcript import input_id, text_of

Standing: TypeAlias = Literal["new", "go_on", "done"]
Task: TypeAlias = str | BaseMessage | dict[str, Any] | Sequence[MessageLikeRepresentation]
"""A text or messages, also as `{"role": ..., "content": ...}` and `(role, text)`; the last one is the task."""
Decisions: TypeAlias = Mapping[str, Mapping[str, Any] | str | bool]
"""Answers by `Pending.id`: `{"type": "approve"}`, `{"type": "edit", "args": {...}}` with all arguments, `{"type":
"reject", "message": ...}`, `{"type": "respond", "message": ...}`, or the bare type. A tool's own interrupt gets
the answer as it is.
"""


@dataclass(frozen=True)
class Request:
    """What a door was asked for, before the thread was looked at. Raises UsageError for a thread that is no name."""

    thread: str
    task: Task | None = None
    run_id: str | None = None
    extend: dict[str, float] | None = None
    decisions: Decisions | None = None
    context: Context | None = None
    repeat_effects: bool = False

    def __post_init__(self) -> None:
        check_name(self.thread)


@dataclass(frozen=True)
class Plan:
    """What the graph will be given; `input` is the constant DONE when nothing has to run.

    `settles` is true for a new task that comes upon a step which was left in the middle and of which something has
    finished: LangGraph drops that with a new input, so it has to become part of the thread first.
    """

    input: Any
    config: RunnableConfig
    settles: bool = False


DONE = object()
"""Stands for an input that was delivered and finished before."""


def standing(events: Sequence[Event], delivery: str) -> Standing:
    """Known when a begin event carries the delivery, done when a stop or a later begin follows that event."""
    begun = next((i for i, e in enumerate(events) if e["kind"] == "begin" and e["delivery"] == delivery), None)
    if begun is None:
        return "new"
    return "done" if any(event["kind"] in ("stop", "begin") for event in events[begun + 1 :]) else "go_on"


def overtaken(snapshot: StateSnapshot, delivery: str) -> bool:
    """Whether the input of another delivery has come behind this one's, be it only stored and not yet taken in."""
    messages: list[AnyMessage] = snapshot.values.get("messages", [])
    place = next((i for i, message in enumerate(messages) if message.id == input_id(delivery)), None)
    if place is None:
        return False
    waits = snapshot.next == (START,) and run_id_of(snapshot) not in (None, delivery)
    return waits or any(isinstance(message, HumanMessage) for message in messages[place + 1 :])


def run_id_of(snapshot: StateSnapshot) -> str | None:
    """The delivery under which this checkpoint was written; None where LangGraph's own API wrote it without one."""
    found = (snapshot.metadata or {}).get("run_id")
    return str(found) if found else None


def check_same_input(messages: Sequence[AnyMessage], delivery: str, text: str) -> None:
    """Raises DeliveryConflict when this run id brought another text: LangGraph would drop the new one silently."""
    earlier = next((message for message in messages if message.id == input_id(delivery)), None)
    if earlier is not None and text_of(earlier) != text:
        raise DeliveryConflict(
            f"Run id {delivery!r} was used on this thread before with another input: give the new input a new run id."
        )


def check_name(thread: object) -> None:
    """Raises UsageError for a thread id that is not a text or says nothing."""
    if not isinstance(thread, str) or not thread.strip():
        raise UsageError(f"The thread {thread!r} is no name: give a text that is not empty, or none on a first run.")


def plan(snapshot: StateSnapshot, request: Request, url: str) -> Plan:
    """What the graph is given. Raises UnknownThread, DeliveryConflict, BadDecision and UsageError."""
    config: RunnableConfig = {"configurable": {"thread_id": request.thread}}
    events: list[Event] = snapshot.values.get("events", [])
    check_format(run_of(snapshot.values), request.thread)
    if request.task is not None:
        run_id = request.run_id or str(uuid4())
        messages = _messages(request.task, run_id)
        where = "done" if overtaken(snapshot, run_id) else standing(events, run_id)
        check_same_input(snapshot.values.get("messages", []), run_id, text_of(messages[-1]))
        payload: dict[str, Any] = {"messages": messages, **({"extend": request.extend} if request.extend else {})}
        settles = where == "new" and any(task.result is not None for task in snapshot.tasks)
        return Plan(DONE if where == "done" else payload, {**config, "metadata": {"run_id": run_id}}, settles)
    if not snapshot.values:
        raise UnknownThread(f"There is no thread {request.thread!r} in {url}.")
    return _resumption(snapshot, events, request, config)


def _resumption(snapshot: StateSnapshot, events: list[Event], request: Request, config: RunnableConfig) -> Plan:
    current = run_id_of(snapshot) or request.run_id or str(uuid4())
    going_on: RunnableConfig = {**config, "metadata": {"run_id": current}}
    answers = _answers(snapshot, request)
    if answers is not None:
        return Plan(Command(resume=answers), going_on)
    # after a fork an input may wait behind a run that has ended
    finished = bool(events) and not snapshot.next and standing(events, _last_delivery(events)) == "done"
    run: Run | None = snapshot.values.get("run")
    if request.extend:
        if not finished or run is None:
            raise UsageError(f"Thread {request.thread!r} has not ended: resume it first, then extend its limits.")
        run_id = request.run_id or str(uuid4())
        if standing(events, run_id) == "done":
            return Plan(DONE, going_on)
        check_extension(run, request.extend)
        return Plan({"extend": request.extend}, {**config, "metadata": {"run_id": run_id}})
    if finished and run is not None and run["status"] == "failed":
        return Plan({"extend": {}}, {**config, "metadata": {"run_id": request.run_id or str(uuid4())}})
    return Plan(DONE if finished else None, going_on)


def _last_delivery(events: list[Event]) -> str:
    return next((event["delivery"] for event in reversed(events) if event["kind"] == "begin"), "")


def _answers(snapshot: StateSnapshot, request: Request) -> dict[str, Any] | None:
    """The answers by interrupt id, each naming what it is about; None when nothing is answered.

    An approval that came too late, or not at all, is a rejection. Raises BadDecision and UsageError.
    """
    now = time.time()
    questions = {each.id: each.value if isinstance(each.value, Mapping) else {} for each in snapshot.interrupts}
    late = {key: {"type": "reject", "message": EXPIRED} for key, asked in questions.items() if expired(asked, now)}
    given = _by_question(request.decisions)
    if request.extend and not given:
        edit = {"type": "edit", "args": dict(request.extend)}
        given = {key: edit for key, asked in questions.items() if asked.get("kind") == "budget"}
    for key, decision in given.items():
        if key not in questions:
            known = ", ".join(questions) or "none"
            raise BadDecision(f"No question {key!r} is open on thread {request.thread!r} (open: {known}).")
        if key not in late and _is_ours(questions[key]):
            _check(key, questions[key], decision, snapshot.values.get("run"))
    return {key: _answer(questions[key], decision, now) for key, decision in {**given, **late}.items()} or None


def _by_question(decisions: object) -> dict[str, Any]:
    """The decisions, which are answers of a caller that no type checker may have seen. Raises BadDecision."""
    if decisions is not None and not isinstance(decisions, Mapping):
        raise BadDecision('Decisions are given by the ids of their questions: {pending.id: {"type": "approve"}}.')
    return dict(decisions or {})


def _answer(asked: Mapping[str, Any], decision: object, now: float) -> object:
    """What the question gets; one that a tool put by an interrupt of its own gets the decision as it is."""
    if not _is_ours(asked):
        return decision
    return {"about": asked["about"], "decisions": [unwrapped(decision)], "answered_at": now}


def _is_ours(asked: Mapping[str, Any]) -> bool:
    return "about" in asked and "action_requests" in asked


def _check(key: str, asked: Mapping[str, Any], decision: object, run: Run | None) -> None:
    """Raises BadDecision for what does not answer the question, and UsageError for limits that cannot be had."""
    read = read_decision(decision)
    problem = unfit(asked.get("kind", "approval"), read)
    if problem:
        raise BadDecision(f"Question {key!r} is not answered by that. {problem}")
    if read is not None and run is not None and asked.get("kind") == "budget":
        problem = extension_problem(run, read)
        if problem:
            raise UsageError(problem)


def _messages(task: Task, run_id: str) -> list[BaseMessage]:
    """The task as messages; the last one carries the delivery's id."""
    if isinstance(task, str):
        if not task.strip():
            raise UsageError("The task is empty: say what is to be done.")
        return [HumanMessage(clean_text(task), id=input_id(run_id))]
    messages = [sanitise_message(message) for message in _given(task)]
    if not messages:
        raise UsageError("The task is empty: give at least one message.")
    return [*messages[:-1], messages[-1].model_copy(update={"id": input_id(run_id)})]


def _given(task: BaseMessage | dict[str, Any] | Sequence[MessageLikeRepresentation]) -> list[BaseMessage]:
    """The messages of a task in any form that LangChain reads. Raises UsageError for another."""
    try:
        return convert_to_messages(task if isinstance(task, Sequence) else [task])
    except (ValueError, TypeError, NotImplementedError):  # their texts repeat what was given
        raise UsageError(
            'The task is no message: give a text, a message, or a list of messages such as {"role": "user", "content": '
            '"..."}.'
        ) from None
