"""How a person is asked and how the answer is read: LangChain's HITLRequest shape, read leniently."""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from langgraph.types import interrupt
from typing_extensions import TypedDict

Kind: TypeAlias = Literal["approval", "budget", "unknown"]
_TYPES = {"approve": "approve", "accept": "approve", "edit": "edit", "reject": "reject", "ignore": "reject",
          "respond": "respond", "response": "respond", "answer": "respond"}  # fmt: skip


class Question(TypedDict):
    """What `interrupt` hands out: what existing chat front ends draw as a form, plus what it is about."""

    action_requests: list[dict[str, Any]]
    review_configs: list[dict[str, Any]]
    about: str
    kind: Kind


class Decision(TypedDict):
    """What a person decided: `args` for an edit, `message` for a rejection or an answer in the tool's stead."""

    type: Literal["approve", "edit", "reject", "respond"]
    args: dict[str, Any]
    message: str


def question(kind: Kind, about: str, name: str, args: Mapping[str, Any], description: str) -> Question:
    """A question about one action: the call of a tool, or extending the run's budget."""
    allowed = ["approve", "edit", "reject"] if kind == "budget" else ["approve", "edit", "reject", "respond"]
    return {
        "action_requests": [{"name": name, "args": dict(args), "description": description}],
        "review_configs": [{"action_name": name, "allowed_decisions": allowed}],
        "about": about,
        "kind": kind,
    }


def put(asked: Question) -> Decision:
    """Pause the run until the question is answered.

    An answer that names another subject is not taken for this one's, and one that cannot be read asks again.
    """
    while True:
        answer = interrupt(asked)
        if isinstance(answer, Mapping) and answer.get("about") not in (None, asked["about"]):
            continue
        decision = read_decision(answer)
        if decision is not None:
            return decision


def read_decision(answer: object) -> Decision | None:
    """The decision in an answer: `{"decisions": [...]}`, one decision, a list of one, true or false, or a bare word."""
    if isinstance(answer, Mapping) and isinstance(answer.get("decisions"), list):
        answer = answer["decisions"]
    if isinstance(answer, list) and len(answer) == 1:
        answer = answer[0]
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
        "type": "edit"
        if kind == "edit"
        else "respond"
        if kind == "respond"
        else "reject"
        if kind == "reject"
        else "approve",
        "args": dict(args) if isinstance(args, Mapping) else {},
        "message": message if isinstance(message, str) else "",
    }
