"""Settings of an agent."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from loopwright.presets import PRESETS, PresetName, filled

DEFAULT_SYSTEM_PROMPT = (
    "You are a careful assistant that works with tools. Obtain facts and numbers from the tools instead of guessing. "
    "When a tool reports an error, read it and change the call before trying again. "
    "When you know everything that was asked, answer directly."
)

Count = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(gt=0)]
ProtocolName = Literal["native", "json_flat", "json_nested", "json_schema", "auto"]


class _Group(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Price(_Group):
    """What a model costs, in USD per million tokens."""

    input: float = Field(ge=0)
    """Tokens of the request."""
    output: float = Field(ge=0)
    """Tokens of the reply, reasoning included."""
    cached_input: float | None = Field(default=None, ge=0)
    """Tokens of the request that the server read from its cache; None: the same as the others."""


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
    prices: dict[str, Price] = Field(default_factory=dict)
    """Prices by model name, before the built-in table; a name also holds for all longer names that begin with it."""


class ToolSettings(_Group):
    """How tools are run where the tool's own policy does not say."""

    timeout: Seconds = 60.0
    """Seconds one execution may take."""
    retries: int = Field(default=2, ge=0)
    """Further tries of a call that failed transiently; a write is never retried."""
    retry_delay: float = Field(default=0.5, ge=0)
    """Seconds before the first retry; doubles with each further one. A server's Retry-After comes first."""
    retry_seconds: Seconds = 60.0
    """Seconds that all waiting between the tries of one call may take together."""
    max_result_tokens: Count = 2000
    """Tokens of a result that the model sees; the whole stays in the store."""
    max_result_characters: Count | None = None
    """Characters of a result that the model sees of its two ends, half from each; lines that share rare words with the
    task come on top, half as many again at most. None: the tokens alone count."""
    calls_per_turn: Count | None = None
    """Calls of one reply that are run; further ones are answered as not run. With 1 the server is told so as well."""
    approve: tuple[str, ...] = ()
    """Effects (pure, read, idempotent, write) or names of tools whose calls need a person's approval. Undeclared tools
    count as write. It adds to what `tool_policy(tool, approval=...)` says."""
    approval_seconds: Seconds | None = None
    """Seconds after which a call that waits for approval counts as rejected, at the next resume; None: it waits on."""
    max_calls: dict[str, Count] = Field(default_factory=dict)
    """Executions a run may make of one tool, by tool name."""
    strict: bool | None = None
    """Whether tools are sent as strict schemas, which the server holds the model to; None: where the endpoint is
    OpenAI's own. A tool that cannot be strict, or an endpoint that refuses strict schemas, gets plain ones."""


class MemorySettings(_Group):
    """How the request is kept within its budget."""

    target: float = Field(default=0.6, gt=0, le=1)
    """Share of the budget that a compression brings the request down to."""
    clip_characters: Count = 400
    """Characters that a clipped old tool result keeps."""
    summary: bool = True
    """Whether folded groups are summarised by the model; off keeps the ledger alone."""
    per_result_summary: bool = False
    """Whether the model summarises each folded tool result in at most 50 words, in place of one summary of all."""
    summary_tokens: Count = 400
    """Tokens the summary may have."""
    long_term: bool = False
    """Whether `remember` and `recall` also keep and find facts across threads, in the store, for the user that a run
    names with `user={"id": ...}`."""
    long_term_approval: bool = True
    """Whether a person has to approve each fact that is kept across threads."""
    summary_characters: Count | None = None
    """Characters one summary may have; what is longer is cut. None: the tokens alone count."""
    summary_append: bool = False
    """Whether each summary is written of the newly folded steps alone and put behind those before it; off rewrites the
    one summary so that it holds both."""
    summary_kept_characters: Count = 1200
    """Characters that appended summaries may have together; the oldest go first."""
    summary_rounds: Count = 8
    """Steps that wait before a further summary is asked for; until then the ledger alone holds what was folded."""
    window: Count | None = None
    """How much of the latest work is shown at most, in `window_unit`; None: the request's budget alone counts. The
    user's messages are always shown and not counted, and neither is the memory of what was folded. A step is shown
    whole or not at all, and the newest always."""
    window_unit: Literal["messages", "tokens", "steps"] = "messages"
    """What a window counts: assistant and tool messages, their tokens, or the steps that they make up."""
    window_keep: Count | None = None
    """What is left of the window once it is passed: all older work is folded together. None folds only the oldest
    steps, until the window holds."""
    steps: Literal["messages", "triples"] = "messages"
    """How steps are shown: as the messages they were, or as lines of action, observation and reflection."""
    observation_characters: Count = 200
    """Characters that a triple shows of the two ends of an earlier observation, half from each, with a marker and at
    most as many of the lines in use between them; the newest step's is shown as it came."""
    reflection: Literal["off", "errors", "always"] = "off"
    """After which steps the model is asked for one sentence of reflection, which a triple then shows: none, those that
    failed, or all."""


class GuardSettings(_Group):
    """How the guard treats what it finds."""

    ask: bool = True
    """Whether a person may be asked, where there is a checkpointer to wait in."""
    error_rounds: Count = 5
    """Rounds of nothing but errors in a row that end the run. Recorded runs: three in a row occur in 2-4 % of runs that
    succeed, five in 0-1.1 %."""
    same_call: int | None = Field(default=None, ge=2)
    """Which identical call is refused whatever came of those before; None: the guard judges by results alone. Recorded
    runs: a second identical call occurs in 1-15 % of runs that succeed."""
    same_call_in: Literal["row", "run"] = "row"
    """Whether identical calls count only in a row, or anywhere in the run."""
    same_call_ends: bool = False
    """Whether such a call ends the run with an answer; off refuses it."""


class Settings(_Group):
    """Everything about an agent that is plain data: frozen, without secrets, never read from the environment here.

    A preset fills what was not set, inside the groups as well: `Settings(preset="rolling-summary", max_model_calls=20)`
    is that loop with a larger step cap. Raises pydantic's ValidationError for an unknown name and a value out of
    range. What each setting means stands below it in settings.py, where an editor shows it.
    """

    preset: PresetName | None = None
    """The published loop whose numbers fill what is not set here; see `loopwright.presets`."""
    system_prompt: str = DEFAULT_SYSTEM_PROMPT
    """The first message of every request. A preset's own is sent in the language of the conversation."""
    protocol: ProtocolName = "native"
    """How the model is told of tools and calls them: natively, or as JSON in plain text (docs/local-models.md). `auto`
    begins natively and turns to JSON for a model that writes its calls as text, or whose server takes no tools."""
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
    """USD of a run. Calls of a model without a known price (`model.prices`) do not count; a warning says so."""
    max_seconds: Seconds | None = None
    """Working seconds of a run: model, tools and compression; waiting for a person does not count."""
    memory: MemorySettings = MemorySettings()
    """How a request is kept within its budget; facts across threads."""
    tools: ToolSettings = ToolSettings()
    """Timeouts, retries, approvals and results of tools; `tool_policy` comes first."""
    guard: GuardSettings = GuardSettings()
    """Repeats and rounds of errors; whether a person may be asked."""
    model: ModelSettings = ModelSettings()
    """Timeout, temperature, reply limit, retries, prices. In loopwright.toml it is `[model_settings]`."""

    @model_validator(mode="before")
    @classmethod
    def _fill_from_preset(cls, given: Any) -> Any:
        """What is not set comes from the preset; of a group given as an object, what was set in it counts."""
        if not isinstance(given, Mapping) or given.get("preset") not in PRESETS:
            return given  # no preset, or one that the field's own check refuses
        plain = {
            name: value.model_dump(exclude_unset=True) if isinstance(value, BaseModel) else value
            for name, value in given.items()
        }
        return filled(plain, given["preset"])

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
