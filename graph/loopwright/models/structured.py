"""Structured output: what the model is told about the form of its answer, and whether an answer has it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel, ValidationError

from loopwright.models.json_text import FENCE

_T = TypeVar("_T", bound=BaseModel)
_MOST_ERRORS = 8


@dataclass(frozen=True)
class OutputFormat(Generic[_T]):
    """The form that an answer must have: a pydantic model."""

    model: type[_T]

    def read(self, text: str) -> _T | None:
        """The answer as the model's instance: the whole text, its one fenced block or its outermost object."""
        for candidate in _candidates(text):
            try:
                return self.model.model_validate_json(candidate)
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
        try:
            function = convert_to_openai_tool(self.model, strict=True)["function"]
        except (ValueError, TypeError, KeyError):
            return None
        parameters = _without_defaults(function["parameters"])
        if not _can_be_strict(parameters):
            return None
        return {"type": "json_schema", "json_schema": {"name": function["name"], "schema": parameters, "strict": True}}


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


def _without_defaults(schema: Any) -> Any:
    """The schema without defaults: strict mode takes none, and requires every property."""
    if isinstance(schema, dict):
        properties = schema.get("properties")
        kept = {key: _without_defaults(value) for key, value in schema.items() if key != "default"}
        if isinstance(properties, dict):  # a property may be called default
            kept["properties"] = {name: _without_defaults(part) for name, part in properties.items()}
        return kept
    return [_without_defaults(item) for item in schema] if isinstance(schema, list) else schema


def _can_be_strict(schema: object) -> bool:
    """Whether no object in the schema has free keys: OpenAI's strict mode knows named properties only."""
    if isinstance(schema, dict):
        if schema.get("type") == "object" and (schema.get("additionalProperties") or "properties" not in schema):
            return False
        return all(_can_be_strict(item) for item in schema.values())
    return all(_can_be_strict(item) for item in schema) if isinstance(schema, list) else True
