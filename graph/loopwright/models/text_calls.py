"""Finds calls in a text: as JSON, in a code fence, in tags, or as the markup of some model families."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple

from loopwright.models.json_text import next_json
from loopwright.models.replies import read_arguments
from loopwright.models.thinking import thoughts_apart

LONGEST_LEAD = 300
"""Characters of prose that may stand in front of a call; thinking in its own tags does not count."""
_END = re.compile(r"(?:\s*(?:<\|[^|<>]*\|>|</s>|<end_of_turn>))+\s*\Z")
_OPENING = re.compile(
    r"^[ \t]*(?=[\[{]|```)"
    r"|(?=<(?:tool_calls?|function_calls?|tools?)>|<function=|<invoke\b|\[TOOL_CALLS\]|<\|python_tag\|>)",
    re.MULTILINE,
)
"""Where a call may begin: JSON and fences on a line of their own, markup anywhere."""
_GAP = re.compile(r"[\s,;]*(?:\[TOOL_CALLS\]|<\|python_tag\|>)?[\s,;]*")
_FENCE = re.compile(r"```[\w-]*[ \t]*\n?(.*?)```", re.DOTALL)
_TAG = re.compile(r"<(tool_calls?|function_calls?|tools?)>(.*?)(?:</\1>|\Z)", re.DOTALL)
_FUNCTION = re.compile(r"<function=([^>\s]+)>(.*?)</function>", re.DOTALL)
_INVOKE = re.compile(r"<invoke\s+name=\"([^\"]+)\"\s*>(.*?)</invoke>", re.DOTALL)
_PARAMETER = re.compile(r"\s*<parameter(?:=|\s+name=\")([^>\"\s]+)\"?\s*>\n?(.*?)\n?</parameter>\s*", re.DOTALL)
_NAMED_JSON = re.compile(r"([\w.:/-]+)\s*(?:\[ARGS\])?\s*(?=\{)")
_NAMES = ("name", "tool", "tool_name", "function", "function_name", "action")
_ARGUMENTS = ("arguments", "args", "parameters", "params", "input", "tool_input", "action_input")
_BESIDE = frozenset({"id", "type", "index", "call_id", "thought", "thoughts", "reasoning"})
"""What may stand beside name and arguments without being an argument."""
_AROUND = _BESIDE | {"action", "reflection", "plan", "finish", "final_answer"}
"""What may stand around an action that is an object of its own."""


class TextCall(NamedTuple):
    """A call as a text has it, under the bound tool's name."""

    name: str
    args: dict[str, Any]


Resolve = Callable[[str], str | None]
"""The bound tool that a name means, or None."""


def calls_in(
    text: str, resolve: Resolve, arguments: Mapping[str, Collection[str]]
) -> tuple[str, list[TextCall]] | None:
    """The lead and the calls of a text that is nothing else; None for every other text.

    `arguments` maps the bound tools to the names of their arguments. Every call must parse whole and name a bound
    tool, or none is taken; text behind a call means that the text speaks about it.
    """
    text = _END.sub("", text)
    begin = len(text) - len(thoughts_apart(text)[1])
    for opening in _OPENING.finditer(text, begin):
        if len(text[begin : opening.start()].strip()) > LONGEST_LEAD:
            return None
        calls = _Reader(resolve, arguments).all_of(text[opening.start() :])
        if calls:
            return text[: opening.start()].strip(), calls
    return None


class _Reader(NamedTuple):
    """Reads texts that consist of calls; each method gives None for what is no call of a bound tool."""

    resolve: Resolve
    arguments: Mapping[str, Collection[str]]

    def all_of(self, text: str) -> list[TextCall] | None:
        """The calls that a text consists of."""
        calls: list[TextCall] = []
        at = _skip(text, 0)
        while at < len(text):
            found = self.next_of(text, at)
            if found is None:
                return None
            more, at = found
            calls += more
            at = _skip(text, at)
        return calls

    def next_of(self, text: str, at: int) -> tuple[list[TextCall], int] | None:
        """The calls of the fence, tag, markup or JSON value that begins here, and where it ends."""
        calls: list[TextCall] | None
        if found := _FENCE.match(text, at) or _TAG.match(text, at):
            calls = self.all_of(found[found.lastindex or 1])
        elif found := _FUNCTION.match(text, at) or _INVOKE.match(text, at):
            calls = self.call(found[1], _parameters(found[2]))
        else:
            return self.json_of(text, at)
        return (calls, found.end()) if calls else None

    def json_of(self, text: str, at: int) -> tuple[list[TextCall], int] | None:
        """The calls of the JSON value that begins here, or behind a tool's name."""
        named = _NAMED_JSON.match(text, at)
        try:
            value, end = next_json(text, named.end() if named else at)
        except ValueError:
            return None
        calls = self.call(named[1], value) if named else self.calls_of(value)
        return (calls, end) if calls else None

    def calls_of(self, value: object) -> list[TextCall] | None:
        """The calls that a JSON value describes."""
        if isinstance(value, list):
            found = [self.calls_of(item) for item in value]
            return [call for calls in found for call in calls or ()] if found and all(found) else None
        if not isinstance(value, dict):
            return None
        if set(value) <= {"tool_calls"} or (isinstance(value.get("function"), dict) and set(value) <= _WRAPPED):
            return self.calls_of(value.get("tool_calls") or value.get("function"))
        if isinstance(value.get("action"), dict) and value.keys() <= _AROUND and not value.get("finish"):
            return self.calls_of(value["action"])
        key = next((key for key in _NAMES if isinstance(value.get(key), str)), None)
        if key is None:
            return None
        rest = {name: item for name, item in value.items() if name != key}
        return self.call(str(value[key]), self.arguments_of(str(value[key]), key, rest))

    def arguments_of(self, name: str, key: str, rest: Mapping[str, object]) -> object:
        """The arguments beside a name: under a key of their own, or, except beside `name`, spread out."""
        known = set(self.arguments.get(self.resolve(name) or "", ()))
        given = {place: item for place, item in rest.items() if place in known or place not in _BESIDE}
        own = [place for place in given if place in _ARGUMENTS]
        if own and len(given) == 1:
            return given[own[0]]
        spread = given.keys() <= known and (key != "name" or not known)
        return given if spread else None

    def call(self, name: str, args: object) -> list[TextCall] | None:
        """The one call, if the tool is bound and the arguments are whole."""
        tool = self.resolve(name)
        if tool is None:
            return None
        if isinstance(args, str):
            known = list(self.arguments[tool])
            read = read_arguments(args)
            args = read if read is not None else {known[0]: args} if len(known) == 1 else None
        return [TextCall(tool, args)] if isinstance(args, dict) else None


_WRAPPED = frozenset({"function"}) | _BESIDE


def _skip(text: str, at: int) -> int:
    gap = _GAP.match(text, at)
    return gap.end() if gap else at


def _parameters(inner: str) -> dict[str, Any] | None:
    """Arguments as a JSON object or as parameter tags, whose values are text; None for anything else."""
    if not inner.strip().startswith("<"):
        return read_arguments(inner)
    args: dict[str, Any] = dict(_tags(inner))
    return args if not _PARAMETER.sub("", inner).strip() else None


def _tags(inner: str) -> Iterator[tuple[str, str]]:
    for found in _PARAMETER.finditer(inner):
        yield found[1], found[2]
