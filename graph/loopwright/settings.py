"""Settings of an agent, and Context: the part of them that one run may override."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

DEFAULT_SYSTEM_PROMPT = (
    "You are a careful assistant that works with tools. Obtain facts and numbers from the tools instead of guessing. "
    "When a tool reports an error, read it and change the call before trying again. "
    "When you know everything that was asked, answer directly."
)

Count = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(gt=0)]


class _Group(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ModelSettings(_Group):
    """How the model is called."""

    timeout: Seconds = 120.0
    """Seconds one request may take before it counts as a transient failure."""
    temperature: float | None = Field(default=None, ge=0, le=2)
    """Sampling temperature; None leaves it to the server."""
    max_tokens: Count = 1024
    """Tokens a reply may have; kept free beside `context_tokens`."""
    tries: Count = 6
    """Tries per request on 429, 5xx, dropped connections and cut streams; outages of four in a row occur."""
    retry_delay: float = Field(default=0.5, ge=0)
    """Seconds before the second try; doubles with each further one. A server's Retry-After comes first."""
    retry_seconds: Seconds = 120.0
    """Seconds that all waiting between the tries of one request may take together."""
    stream: bool = True
    """Whether replies are streamed; off for servers whose streaming is broken."""


class ToolSettings(_Group):
    """How tools are run where the tool's own policy does not say."""

    timeout: Seconds = 60.0
    """Seconds one execution may take."""
    retries: int = Field(default=2, ge=0)
    """Further tries of a call that failed transiently; a write is never retried."""
    retry_delay: float = Field(default=0.5, ge=0)
    """Seconds before the first retry; doubles with each further one."""
    max_result_tokens: Count = 2000
    """Tokens of a result that the model sees; the whole stays in the store."""
    max_calls: dict[str, Count] = Field(default_factory=dict)
    """Executions a run may make of one tool, by tool name."""


class MemorySettings(_Group):
    """How the request is kept within its budget."""

    target: float = Field(default=0.6, gt=0, le=1)
    """Share of the budget that a compression brings the request down to."""
    clip_characters: Count = 400
    """Characters that a clipped old tool result keeps."""
    summary: bool = True
    """Whether folded groups are summarised by the model; off keeps the ledger alone."""
    summary_tokens: Count = 400
    """Tokens the summary may have."""


class GuardSettings(_Group):
    """How the guard treats what it finds."""

    ask: bool = True
    """Whether a person may be asked, where there is a checkpointer to wait in."""


class Settings(_Group):
    """Everything about an agent that is plain data: frozen, without secrets, never read from the environment here."""

    system_prompt: str = DEFAULT_SYSTEM_PROMPT
    """The first message of every request."""
    on_limit: Literal["close", "ask"] = "close"
    """What happens at a limit: answer with what was found, or pause until a person extends it."""
    context_tokens: Count | None = None
    """Tokens a request may have, the reply not counted; None takes the model's window, at most 32,000."""
    max_model_calls: Count = 50
    """Model calls of a run. (Fifty would end 1.6 % of successful recorded runs, ten 66 %.)"""
    max_tool_calls: Count | None = 200
    """Executed tool calls of a run."""
    max_tokens: Count | None = None
    """Tokens of a run, requests and replies together."""
    max_cost_usd: float | None = Field(default=None, gt=0)
    """USD of a run, where the model's price is known."""
    max_seconds: Seconds | None = None
    """Working seconds of a run: model, tools and compression; waiting for a person does not count."""
    memory: MemorySettings = MemorySettings()
    tools: ToolSettings = ToolSettings()
    guard: GuardSettings = GuardSettings()
    model: ModelSettings = ModelSettings()

    def limits(self) -> dict[str, float]:
        """The run's limits by name: model_calls, tool_calls, tokens, cost, seconds; those that are set."""
        named = {
            "model_calls": self.max_model_calls,
            "tool_calls": self.max_tool_calls,
            "tokens": self.max_tokens,
            "cost": self.max_cost_usd,
            "seconds": self.max_seconds,
        }
        return {name: limit for name, limit in named.items() if limit is not None}


_GUARD: dict[str, JsonValue] = {"langgraph_nodes": ["guard"]}


class Context(BaseModel):
    """What one run may override: the graph's context schema, which LangGraph Studio shows as a form."""

    system_prompt: str | None = Field(
        default=None, title="System prompt", description="Replaces the agent's system prompt.",
        json_schema_extra={"langgraph_nodes": ["call_model"], "langgraph_type": "prompt"},
    )  # fmt: skip
    on_limit: Literal["close", "ask"] | None = Field(
        default=None, title="At a limit", description="Answer with what was found (close) or pause and ask (ask).",
        json_schema_extra=_GUARD,
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


def effective(settings: Settings, context: object) -> Settings:
    """The settings of this run: those it was built with, updated by the set fields of `context` if that is our Context.

    In a parent graph `runtime.context` is the parent's object or None, and is left alone.
    """
    if not isinstance(context, Context):
        return settings
    update = context.model_dump(exclude={"user"}, exclude_none=True)
    return settings.model_copy(update=update) if update else settings
