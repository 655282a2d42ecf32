"""Structured output: what the model is told about the form of its answer, and whether an answer has it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel, ValidationError

from loopwright.errors import SettingsError
from loopwright.models.json_text import FENCE
from loopwright.strict_schema import nulls_as_defaults, strict_object

_T = TypeVar("_T", bound=BaseModel)
_MOST_ERRORS = 8


@dataclass(frozen=True)
class OutputFormat(Generic[_T]):
    """The form that an answer must have: a pydantic model."""

    model: type[_T]

    def __post_init__(self) -> None:
        """Raises SettingsError for what is no pydantic model with fields."""
        given: object = self.model
        if not isinstance(given, type) or not issubclass(given, BaseModel) or given is BaseModel:
            raise SettingsError(f"The output {self.model!r} is no pydantic model: give a class derived from BaseModel.")

    def read(self, text: str) -> _T | None:
        """The answer as the model's instance: the whole text, its one fenced block or its outermost object.

        A null stands for the default where the field may not be null, as the strict schema says.
        """
        for candidate in _candidates(text):
            for written in (candidate, self._without_nulls(candidate)):
                try:
                    return self.model.model_validate_json(written)
                except ValidationError:
                    continue
        return None

    def problem(self, text: str) -> str:
        """Why the text is no such answer, in one line; empty when it is."""
        if self.read(text) is not None:
            return ""
        *_, likeliest = _candidates(text)
        try:
            self.model.model_validate_json(likeliest)
        except ValidationError as error:
            return "; ".join(_said(detail) for detail in error.errors(include_url=False)[:_MOST_ERRORS])
        return ""

    @property
    def instruction(self) -> str:
        """What the system prompt says about the form of the answer."""
        schema = json.dumps(self.model.model_json_schema(), ensure_ascii=False)
        return (
            "When you are done, answer with one JSON object and nothing else, no fence and no prose around it. "
            f"It must fit this JSON schema: {schema}"
        )

    @property
    def response_format(self) -> dict[str, Any] | None:
        """The schema in the form of OpenAI's structured outputs; None for one that cannot be strict there."""
        function = self._function()
        schema = strict_object(function["parameters"]) if function else None
        if not function or schema is None:
            return None
        return {"type": "json_schema", "json_schema": {"name": function["name"], "schema": schema, "strict": True}}

    def _function(self) -> dict[str, Any] | None:
        """The model as LangChain writes a function's parameters, references resolved; None where it cannot."""
        try:
            function: dict[str, Any] = convert_to_openai_tool(self.model)["function"]
        except (ValueError, TypeError, KeyError):
            return None
        return function

    def _without_nulls(self, text: str) -> str:
        function = self._function()
        try:
            return json.dumps(nulls_as_defaults(json.loads(text), function["parameters"])) if function else text
        except (ValueError, RecursionError):
            return text


def _candidates(text: str) -> Iterator[str]:
    """The texts that may be the answer, from the strictest reading to the most forgiving."""
    yield text
    fences = FENCE.findall(text)
    if len(fences) == 1:
        yield fences[0]
    first, last = text.find("{"), text.rfind("}")
    if 0 <= first < last:
        yield text[first : last + 1]


def _said(detail: Any) -> str:
    place = ".".join(str(part) for part in detail["loc"])
    return f"{place}: {detail['msg']}" if place else str(detail["msg"])
