"""What the nodes of one graph share: model, tools, settings and policies, bound together once."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.runtime import get_runtime

from loopwright.builtin import READ_RESULT
from loopwright.effects import Record
from loopwright.memory import Profile, count_tools
from loopwright.models import ChatRunnable, default_budget, demands_finish, keeps_retries, model_name
from loopwright.policies import Policy
from loopwright.settings import ModelSettings, Settings, effective
from loopwright.state import Effect, Verdict
from loopwright.tooling import Outcome, Toolbox, effect_of
from loopwright.tooling.framing import RULE


@dataclass(frozen=True)
class Offer:
    """The model bound to a choice of tools, and the tokens their schemas take in each request."""

    model: ChatRunnable
    tokens: int


@dataclass(frozen=True)
class Wiring:
    """Model, tools, settings and policies of one graph."""

    model: BaseChatModel
    toolbox: Toolbox
    settings: Settings
    policies: tuple[Policy, ...]
    summary_model: BaseChatModel
    _offers: dict[tuple[frozenset[str], bool], Offer] = field(default_factory=dict)

    def settings_now(self) -> Settings:
        """The settings of the current run: those of the graph, updated by the run's Context."""
        return effective(self.settings, get_runtime().context)

    @cached_property
    def outside(self) -> frozenset[str]:
        """The tools whose results come from outside, and `read_result`, which pages through such results."""
        declared = {name for name, policy in self.toolbox.policies.items() if policy.untrusted}
        return frozenset(declared | {READ_RESULT}) if declared else frozenset()

    def system_prompt(self, settings: Settings) -> str:
        """The system prompt as it is sent: with the rule about text from outside where a tool brings such text."""
        return "\n\n".join(filter(None, [settings.system_prompt, RULE if self.outside else ""]))

    def budget(self, settings: Settings) -> int:
        """Tokens the next request may have."""
        return settings.context_tokens or default_budget(self.model, settings.model)

    def profile(self) -> Profile:
        """How requests to this model are rendered and counted."""
        return Profile(model=model_name(self.model))

    def model_settings(self, settings: Settings) -> ModelSettings:
        """The settings of a model call; one try where the model's client makes retries of its own."""
        return settings.model.model_copy(update={"tries": 1}) if keeps_retries(self.model) else settings.model

    def demands_finish(self) -> bool:
        """Whether a reply without a finish reason counts as cut off."""
        return demands_finish(self.model)

    def offer(self, *, withheld: frozenset[str], closing: bool, paging: bool, plain: bool) -> Offer:
        """The model bound to the tools on offer: none in a closing request, `read_result` only once it can be used.

        `plain` turns streaming off in the model itself, so that a caller who streams the graph does not turn it on.
        """
        hidden = withheld if paging else withheld | {READ_RESULT}
        names = frozenset() if closing else frozenset(self.toolbox.tools) - hidden
        if (names, plain) not in self._offers:
            tools = [tool for name, tool in self.toolbox.tools.items() if name in names]
            base = self.model.model_copy(update={"disable_streaming": True}) if plain else self.model
            model: ChatRunnable = base.bind_tools(tools) if tools else base
            schemas = [convert_to_openai_tool(tool) for tool in tools]
            tokens = count_tools(schemas, model_name(self.model)) if tools else 0
            self._offers[names, plain] = Offer(model, tokens)
        return self._offers[names, plain]

    def effect(self, name: str) -> Effect | None:
        """The effect a tool is run with; None for a tool that does not exist."""
        return effect_of(self.toolbox.policy(name)) if name in self.toolbox.tools else None

    def journaled(self, record: Record, *, own: bool = True) -> Outcome:
        """The outcome that the journal holds for a call: the real result if it was done, else that nobody knows.

        `own` is false for a record of another call of the same signature, of a branch this one has left.
        """
        if record["state"] == "done":
            note = "" if own else "(This was done before, on another branch of the thread; it was not done again.)\n"
            failure = None if record["status"] == "ok" else {"kind": "permanent", "text": record["text"][:500]}
            return Outcome(record["status"] if own else "served", note + record["text"], cast("Any", failure))
        text = (
            f"OUTCOME UNKNOWN: {record['tool']} was started at step {record['step']} and no result was recorded, so it "
            "may or may not have happened. It was not started again. Find out with a reading tool whether it happened, "
            "or tell the user that this is not known."
        )
        return Outcome("unknown", text, {"kind": "permanent", "text": "outcome unknown"})


def verdict(go: Any, **changes: Any) -> Verdict:
    """A verdict with everything at rest but what is given."""
    rest: Mapping[str, Any] = {
        "closing": False,
        "calls": [],
        "withheld": [],
        "nudge": "",
        "question": "",
        "stop": None,
        "policy": "",
        "reason": "",
    }
    return cast("Verdict", {"go": go, **rest, **changes})
