"""From a reply's text to what it says: a call, an answer, or that it has the wrong format. Total and strict."""

import json
import re
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from loopwright.models.protocols.relaxed_json import CutOff, Found, objects_in
from loopwright.models.protocols.text_tools import INPUT, TextTools
from loopwright.models.rescue import resolved
from loopwright.models.text_calls import calls_in
from loopwright.models.thinking import thoughts_apart

WRAPPER = "step"
"""The field that holds the whole step where a server takes no choice at the root of a schema."""
_INPUTS = (INPUT, "args", "arguments", "input", "parameters", "tool_input")
_ANSWERS = ("final_answer", INPUT, "answer", "output", "text", *_INPUTS[1:])
_THOUGHTS = ("thought", "thoughts", "reasoning")
_OWN = frozenset({"action", "finish", "name", *_INPUTS, *_THOUGHTS})
_FINAL = frozenset({"final", "final_answer", "finish", "answer", "end_of_task"})
_NONE = frozenset({"", "none", "null"})
_HALF_A_STEP = re.compile(r"[\s`\w]*[{\[].*?[\"'](?:action|final_answer)", re.DOTALL)
_FENCE = re.compile(r"\s*```\w*\s*\Z")


@dataclass(frozen=True)
class Call:
    """One tool call; the tool may not exist."""

    name: str
    args: dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """The final answer."""

    text: str


@dataclass(frozen=True)
class WrongFormat:
    """Neither; `problem` is a clause in plain words."""

    problem: str


@dataclass(frozen=True)
class Reading:
    """What a reply says, what was thought beside it, and how many further calls or answers of the reply count not."""

    step: Call | Answer | WrongFormat
    thought: str = ""
    ignored: int = 0


Step: TypeAlias = Call | Answer | WrongFormat


def read_step(text: str, tools: TextTools) -> Reading:
    """What the text says, by the first object in it that has the form of any protocol.

    Fences and prose around it do not matter. Without such an object a reply that is nothing but a call in another
    known form is that call. What is cut off is no call, nor what stands inside of it. For every text there is a
    reading; nothing is raised.
    """
    _, text = thoughts_apart(text)
    found: list[Found] = []
    cut = False
    try:
        for each in objects_in(text):
            found.append(each)  # noqa: PERF402 - keeps those in front of one that is cut off
    except CutOff:
        cut = True
    steps = [(each, reading) for each in found if (reading := _reading(text, each, tools)) is not None]
    if steps:
        first, reading = steps[0]
        lead = _FENCE.sub("", text[: first.start]).strip()
        thought = "\n".join(filter(None, [lead, reading.thought]))
        return replace(reading, thought=thought, ignored=reading.ignored + len(steps) - 1)
    if cut:
        return Reading(WrongFormat("the JSON object is cut off"))
    written = calls_in(text, lambda name: resolved(name, tools), {n: list(t.properties) for n, t in tools.items()})
    if written is not None:
        lead, (call, *more) = written
        return Reading(Call(call.name, call.args), lead, len(more))
    if not text.strip():
        return Reading(WrongFormat("the reply is empty"))
    return Reading(WrongFormat("no action and no answer is in it" if found else "there is no JSON object in it"))


def read_answer(text: str) -> Reading:
    """What a reply says to a request without tools: its text is the answer, unless it is a step, whole or not."""
    reading = read_step(text, {})
    if not isinstance(reading.step, WrongFormat) or _HALF_A_STEP.match(text):
        return reading
    return Reading(Answer(thoughts_apart(text)[1].strip()))


def _reading(text: str, found: Found, tools: TextTools) -> Reading | None:
    """What an object says; None for one that has nothing of a step. One that cannot be read may have been a call."""
    if found.value is None:
        broken = '"action' in text[found.start : found.end] or "'action" in text[found.start : found.end]
        return Reading(WrongFormat("the object is no valid JSON")) if broken else None
    value: Mapping[str, Any] = found.value
    if set(value) == {WRAPPER} and isinstance(value[WRAPPER], Mapping):
        value = value[WRAPPER]
    if not value.keys() & {"action", "finish", "final_answer", INPUT}:
        return None
    thought = next((str(value[key]) for key in _THOUGHTS if isinstance(value.get(key), str)), "").strip()
    action = value.get("action")
    several = [item for item in action if item] if isinstance(action, list) else []
    if isinstance(action, list):
        action = next(iter(several), None)
    return Reading(_step(action, value, tools), thought, max(0, len(several) - 1))


def _step(action: object, value: Mapping[str, Any], tools: TextTools) -> Step:
    """A call by an action, as text or as object; without one the answer. An action counts more than a `finish`."""
    name, beside = action, {key: item for key, item in value.items() if key != "action"}
    if isinstance(action, Mapping):
        beside = dict(action)
        name = next((action[key] for key in ("name", "action", "tool") if action.get(key)), None)
    if isinstance(name, str) and name.strip().casefold() not in _NONE:
        return _called(name.strip(), beside, tools)
    if name and not isinstance(name, str):
        return WrongFormat("the action is neither a name nor an object with a name")
    answer = value.get("final_answer")
    finishes = str(value.get("finish", answer not in (None, ""))).casefold() == "true"
    if not finishes:
        return WrongFormat("it has no action and does not finish")
    return Answer(_said(answer)) if answer not in (None, "") else WrongFormat("it finishes without a final answer")


def _called(name: str, beside: Mapping[str, Any], tools: TextTools) -> Step:
    """The call of this name with what stands beside the name, or the answer where the name is a word for the end."""
    meant = resolved(name, tools)
    if is_end(name, tools):
        key = next((key for key in _ANSWERS if beside.get(key) not in (None, "")), None)
        return Answer(_said(beside[key])) if key else WrongFormat("the final answer is empty")
    key = next((key for key in _INPUTS if key in beside), None)
    spread = {key: item for key, item in beside.items() if key not in _OWN}
    if meant is None:
        given = beside[key] if key else spread
        return Call(name, given if isinstance(given, dict) else {INPUT: given})
    tool = tools[meant]
    if key is None:  # the arguments stand beside the name, those among them too that are called like a field of ours
        spread |= {key: item for key, item in beside.items() if key in tool.properties and key != "name"}
    args = tool.arguments(beside[key] if key else spread)
    if args is None:
        return WrongFormat(f"the input of {meant} must be an object with {', '.join(tool.properties) or 'no fields'}")
    return Call(meant, args)


def _said(answer: object) -> str:
    """An answer as text: of an object its `action_input`, or the object as JSON."""
    if isinstance(answer, Mapping) and set(answer) == {INPUT}:
        answer = answer[INPUT]
    return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)


def is_end(action: str, tools: Collection[str]) -> bool:
    """Whether an action is a word for the end; a tool that is called so comes first."""
    plain = re.sub(r"[\s-]+", "_", unicodedata.normalize("NFKC", action).strip().casefold())
    return plain in _FINAL and resolved(action, tools) is None
