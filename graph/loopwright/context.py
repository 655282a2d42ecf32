"""Context: the settings that one run may override, as LangGraph's context schema."""

from typing import Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    ModelWrapValidatorHandler,
    ValidationError,
    model_validator,
)

from loopwright.errors import SettingsError
from loopwright.settings import ProtocolName, Settings

_GUARD: dict[str, JsonValue] = {"langgraph_nodes": ["guard"]}


class Context(BaseModel):
    """What one run may override: the graph's context schema, which LangGraph Studio shows as a form.

    Raises SettingsError for what is no override or has a bad value.
    """

    model_config = ConfigDict(extra="forbid")

    system_prompt: str | None = Field(
        default=None, title="System prompt", description="Replaces the agent's system prompt.",
        json_schema_extra={"langgraph_nodes": ["call_model"], "langgraph_type": "prompt"},
    )  # fmt: skip
    on_limit: Literal["close", "ask"] | None = Field(
        default=None, title="At a limit", description="Answer with what was found (close) or pause and ask (ask).",
        json_schema_extra=_GUARD,
    )  # fmt: skip
    protocol: ProtocolName | None = Field(
        default=None, title="Protocol", description="How the model is told of tools: by the server's own tool calls "
        "(native), as JSON in its text, or as it turns out (auto).",
        json_schema_extra={"langgraph_nodes": ["call_model"]},
    )  # fmt: skip
    context_tokens: int | None = Field(
        default=None, ge=1, title="Request budget", description="Tokens a request may have, the reply not counted.",
        json_schema_extra={"langgraph_nodes": ["guard", "compress_memory"]},
    )  # fmt: skip
    max_model_calls: int | None = Field(
        default=None, ge=1, le=10_000, title="Model calls", description="Model calls of a run.",
        json_schema_extra=_GUARD,
    )  # fmt: skip
    max_tool_calls: int | None = Field(
        default=None, ge=1, title="Tool calls", description="Executed tool calls of a run.", json_schema_extra=_GUARD,
    )  # fmt: skip
    max_tokens: int | None = Field(
        default=None, ge=1, title="Tokens", description="Tokens of a run, requests and replies together.",
        json_schema_extra=_GUARD,
    )  # fmt: skip
    max_cost_usd: float | None = Field(
        default=None, gt=0, title="Cost", description="USD of a run, where the model's price is known.",
        json_schema_extra=_GUARD,
    )  # fmt: skip
    max_seconds: float | None = Field(
        default=None, gt=0, title="Working seconds", description="Seconds of a run in model, tools and compression.",
        json_schema_extra=_GUARD,
    )  # fmt: skip
    user: dict[str, Any] = Field(
        default_factory=dict, title="User data", description="Yours: tools read it from runtime.context.user.",
    )  # fmt: skip

    @model_validator(mode="wrap")
    @classmethod
    def _checked(cls, data: Any, validate: ModelWrapValidatorHandler[Self]) -> Self:
        """One sentence in place of pydantic's report: it reaches whoever sent the context to a server."""
        try:
            return validate(data)
        except ValidationError as error:
            raise SettingsError(_sentence(error)) from None


def _sentence(error: ValidationError) -> str:
    """What is wrong first; no value, since one may be a secret."""
    first = error.errors(include_url=False, include_input=False)[0]
    name = ".".join(map(str, first["loc"])) or "context"
    if first["type"] == "extra_forbidden":
        known = ", ".join(sorted(set(Context.model_fields) - {"user"}))
        return f"{name!r} cannot be overridden for one run: the settings that can are {known}."
    message = first["msg"]
    return f"The override {name!r} has a bad value: {message[:1].lower()}{message[1:]}."


def effective(settings: Settings, context: object) -> Settings:
    """The settings of this run: those it was built with, updated by the set fields of `context` if that is our Context.

    In a parent graph `runtime.context` is the parent's object or None, and is left alone.
    """
    if not isinstance(context, Context):
        return settings
    update = context.model_dump(exclude={"user"}, exclude_none=True)
    return settings.model_copy(update=update) if update else settings
