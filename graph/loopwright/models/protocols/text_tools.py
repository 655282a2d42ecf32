"""The tools of a request as a text protocol speaks of them, and their arguments as plain text and back."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from loopwright.models.protocols.relaxed_json import CutOff, objects_in

INPUT = "action_input"
"""The field of an object that is given where a plain text is wanted."""


@dataclass(frozen=True)
class TextTool:
    """A tool by its name, its description and the JSON schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Any]

    @cached_property
    def properties(self) -> Mapping[str, Any]:
        """The schemas of its arguments, by name."""
        found = self.parameters.get("properties")
        return found if isinstance(found, Mapping) else {}

    @cached_property
    def only(self) -> str | None:
        """The one argument that a value alone stands for: the only one, or the only one required."""
        names = list(self.properties)
        if len(names) > 1:
            names = [name for name in self.parameters.get("required") or () if name in self.properties]
        return names[0] if len(names) == 1 else None

    def wants(self, kind: str) -> bool:
        """Whether the one argument is of this JSON type."""
        return self.only is not None and self.properties[self.only].get("type") == kind

    def arguments(self, given: object) -> dict[str, Any] | None:
        """The arguments that an input stands for; None where it can stand for none.

        A text or another value alone is the one argument. An object where a text is wanted stands for its
        `action_input`; a text that is an object with the tool's arguments is that object.
        """
        if isinstance(given, str) and (inner := _whole_object(given)) and inner.keys() <= self.properties.keys():
            return inner
        if isinstance(given, dict):
            return self._from_object(given)
        if given is None or (given == "" and self.only is None):
            return {}
        if self.only is None:
            return None
        return {self.only: _as_text(given) if self.wants("string") else given}

    def _from_object(self, given: dict[str, Any]) -> dict[str, Any]:
        if self.only is None or given.keys() & self.properties.keys() or not given:
            return given
        if set(given) == {INPUT}:
            return {self.only: _as_text(given[INPUT]) if self.wants("string") else given[INPUT]}
        return {self.only: given} if self.wants("object") else given

    def as_input(self, args: Mapping[str, Any]) -> object:
        """The input that stands for these arguments: a text alone where it is read back as them, else the object."""
        text = args.get(self.only or "")
        plain = len(self.properties) == 1 and len(args) == 1 and self.wants("string") and isinstance(text, str)
        return text if plain and self.arguments(text) == dict(args) else dict(args)


TextTools: TypeAlias = Mapping[str, TextTool]


def text_tools(tools: Sequence[BaseTool | dict[str, Any]]) -> TextTools:
    """The tools by name, from LangChain's tools or their form in OpenAI's API."""
    functions = [(tool if isinstance(tool, dict) else convert_to_openai_tool(tool))["function"] for tool in tools]
    return {
        each["name"]: TextTool(each["name"], str(each.get("description") or ""), each.get("parameters") or {})
        for each in functions
    }


def _whole_object(text: str) -> dict[str, Any] | None:
    """The object that the whole text is, if it is one."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        first = next(objects_in(text))
    except CutOff:
        return None
    return first.value if not text[first.end :].strip() else None


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
