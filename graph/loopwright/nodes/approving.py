"""The approval of one call: the question to a person, and what becomes of the call by the answer."""

from langchain_core.messages import ToolCall

from loopwright.language import Language
from loopwright.node import thread_here
from loopwright.nodes.questions import Decision, put, question
from loopwright.nodes.wiring import Wiring
from loopwright.policies import shown_call
from loopwright.state import ToolTask
from loopwright.tooling import Outcome
from loopwright.tooling.approval import argument_problem

_SAID: dict[Language, dict[str, str]] = {
    "en": {
        "asks": "{tool} asks for approval.",
        "alone": "It needs a person's approval, and without a checkpointer nobody can be asked.",
        "rejected": "Rejected: a person decided that this call must not run. {reason}",
        "silent": "(the person gave no text)",
        "edited": "(A person changed the arguments before it ran: {call})",
    },
    "zh": {
        "asks": "{tool} 需要批准后才能执行。",
        "alone": "该调用需要人工批准，而没有 checkpointer 就无法询问。",
        "rejected": "已拒绝：用户决定不执行该调用。{reason}",
        "silent": "（用户没有给出内容）",
        "edited": "（执行前用户修改了参数：{call}）",
    },
}


def decision_on(wiring: Wiring, task: ToolTask) -> Decision | None:
    """What a person says about the call; None where nobody has to be asked, which the guard decided."""
    call, judged, said = task["call"], task["judged"], _SAID[task["language"]]
    if judged["rung"] != "ask":
        return None
    if thread_here() is None:
        return {"type": "reject", "args": {}, "message": said["alone"]}
    description = judged["text"] or said["asks"].format(tool=call["name"])
    seconds = wiring.toolbox.settings.approval_seconds
    expires_at = None if seconds is None else task["decided_at"] + seconds
    asked = question("approval", call["id"] or "", call["name"], call["args"], description, expires_at)
    tool = wiring.toolbox.tools[call["name"]]
    return put(asked, lambda given: argument_problem(tool, given["args"]) if given["type"] == "edit" else "")


def instead_of(decision: Decision | None, language: Language) -> Outcome | None:
    """The outcome that a person put in the tool's stead; None when the tool is to run."""
    said = _SAID[language]
    if decision is None or decision["type"] in ("approve", "edit"):
        return None
    if decision["type"] == "respond":
        return Outcome("served", decision["message"] or said["silent"])
    text = said["rejected"].format(reason=decision["message"]).rstrip()
    return Outcome("rejected", text, {"kind": "denied", "text": text})


def edit_note(call: ToolCall, language: Language) -> str:
    """What the model is told of a call that a person changed: the transcript holds the one it made itself."""
    return _SAID[language]["edited"].format(call=shown_call(call["name"], call["args"]))
