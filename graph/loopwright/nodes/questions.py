"""How a person is asked and how the answer is read: LangChain's HITLRequest shape, read leniently."""

import time
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

from langgraph.types import interrupt
from typing_extensions import TypedDict

Kind: TypeAlias = Literal["approval", "budget", "unknown"]
DecisionType: TypeAlias = Literal["approve", "edit", "reject", "respond"]

ALLOWED: dict[Kind, tuple[DecisionType, ...]] = {
    "approval": ("approve", "edit", "reject", "respond"),
    "budget": ("approve", "edit", "reject"),
    "unknown": ("approve", "reject", "respond"),
}
"""What each kind of question can be answered with.

About a call whose outcome nobody knows `approve` says that it happened, `respond` the same with its result, and
`reject` that it did not happen; `respond` without a message says that the person does not know either.
"""
EXPIRED = "Nobody approved it in time."
"""Why a call whose approval came too late, or not at all, is rejected."""
_TYPES: dict[str, DecisionType] = {
    "approve": "approve", "accept": "approve", "edit": "edit", "reject": "reject", "ignore": "reject",
    "respond": "respond", "response": "respond", "answer": "respond",
}  # fmt: skip


class Question(TypedDict):
    """What `interrupt` hands out: what existing chat front ends draw as a form, plus what it is about.

    `expires_at` is the unix time from which on it counts as rejected, `problem` what was wrong with the last answer.
    """

    action_requests: list[dict[str, Any]]
    review_configs: list[dict[str, Any]]
    about: str
    kind: Kind
    expires_at: float | None
    problem: str


class Decision(TypedDict):
    """What a person decided: `args` for an edit, `message` for a rejection or an answer in the tool's stead."""

    type: DecisionType
    args: dict[str, Any]
    message: str


def question(
    kind: Kind, about: str, name: str, args: Mapping[str, Any], description: str, expires_at: float | None = None
) -> Question:
    """A question about one action: the call of a tool, or extending the run's budget."""
    return {
        "action_requests": [{"name": name, "args": dict(args), "description": description}],
        "review_configs": [{"action_name": name, "allowed_decisions": list(ALLOWED[kind])}],
        "about": about,
        "kind": kind,
        "expires_at": expires_at,
        "problem": "",
    }


def put(asked: Question, check: Callable[[Decision], str]) -> Decision:
    """Pause the run until the question is answered; an approval that comes too late is a rejection.

    An answer that names another subject is not taken for this one's. One that cannot be read, or with which `check`
    finds a problem, asks again and says why.
    """
    while True:
        answer = interrupt(asked)
        if isinstance(answer, Mapping) and answer.get("about") not in (None, asked["about"]):
            continue
        if expired(asked, _given_at(answer)):
            return {"type": "reject", "args": {}, "message": EXPIRED}
        decision = read_decision(answer)
        problem = unfit(asked["kind"], decision) or (check(decision) if decision is not None else "")
        if decision is not None and not problem:
            return decision
        asked = with_problem(asked, problem)


def expired(asked: Mapping[str, Any], at: float) -> bool:
    """Whether the question counts as rejected by this unix time."""
    expires_at = asked.get("expires_at")
    return isinstance(expires_at, int | float) and at > expires_at


def _given_at(answer: object) -> float:
    """When the answer was given: our doors note it, so that a run that was killed in between still obeys it."""
    at = answer.get("answered_at") if isinstance(answer, Mapping) else None
    return at if isinstance(at, int | float) else time.time()


def unfit(kind: Kind, decision: Decision | None) -> str:
    """Why the decision does not answer a question of this kind; empty when it does."""
    allowed = ALLOWED[kind]
    if decision is None:
        return f"The answer could not be read: give a type, one of {', '.join(allowed)}."
    if decision["type"] not in allowed:
        return f"This question cannot be answered with {decision['type']}: give one of {', '.join(allowed)}."
    if decision["type"] == "edit" and not decision["args"]:
        return "The edit holds no arguments: give all of them, as args."
    return ""


def with_problem(asked: Question, problem: str) -> Question:
    """The question once more, with what was wrong with the last answer in front of its description."""
    first = asked["action_requests"][0]
    plain = str(first["description"]).removeprefix(f"{asked['problem']}\n")
    return {
        **asked,
        "action_requests": [{**first, "description": f"{problem}\n{plain}"}],
        "problem": problem,
    }


def unwrapped(answer: object) -> object:
    """The one decision of `{"decisions": [...]}` or of a list; everything else as it is."""
    if isinstance(answer, Mapping) and isinstance(answer.get("decisions"), list):
        answer = answer["decisions"]
    return answer[0] if isinstance(answer, list) and len(answer) == 1 else answer


def read_decision(answer: object) -> Decision | None:
    """The decision in an answer: `{"decisions": [...]}`, one decision, a list of one, true or false, or a bare word."""
    answer = unwrapped(answer)
    if isinstance(answer, bool):
        answer = {"type": "approve" if answer else "reject"}
    if isinstance(answer, str):
        answer = {"type": answer.strip().lower()}
    if not isinstance(answer, Mapping) or (kind := _TYPES.get(str(answer.get("type", "")).lower())) is None:
        return None
    edited = answer.get("edited_action") or answer.get("args")
    args = edited.get("args", edited) if isinstance(edited, Mapping) else {}
    message = answer.get("message") if isinstance(answer.get("message"), str) else answer.get("args")
    return {
        "type": kind,
        "args": dict(args) if isinstance(args, Mapping) else {},
        "message": message if isinstance(message, str) else "",
    }
