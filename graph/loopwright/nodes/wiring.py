"""What the nodes of one graph share: model, tools, settings and policies, bound together once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langgraph.runtime import get_runtime
from pydantic import BaseModel

from loopwright.builtins import READ_RESULT, RECALL
from loopwright.context import effective
from loopwright.effects import Record
from loopwright.framing import RULE
from loopwright.language import Language, language_of
from loopwright.memory import Profile, token_ratio
from loopwright.models import default_budget, demands_finish, keeps_retries, known_refusals, model_name
from loopwright.models.protocols import FormName, TextTools, text_tools
from loopwright.models.structured import OutputFormat
from loopwright.nodes.fallback import last_reply_of_run, place_in_use
from loopwright.nodes.offers import Offer, make_offer
from loopwright.nodes.protocol import TURNS_TO, has_turned, rewriting_tokens, text_protocol
from loopwright.policies import Policy
from loopwright.presets import in_language
from loopwright.settings import ModelSettings, ProtocolName, Settings
from loopwright.state import Effect, Event, Verdict
from loopwright.tooling import Outcome, Toolbox, effect_of
from loopwright.tooling.wording import told


@dataclass(frozen=True)
class Wiring:
    """Model, tools, settings and policies of one graph."""

    model: BaseChatModel
    toolbox: Toolbox
    settings: Settings
    policies: tuple[Policy, ...]
    summary_model: BaseChatModel
    output: OutputFormat[BaseModel] | None = None
    fallback: tuple[BaseChatModel, ...] = ()
    """The models that take over, in order, when the one before fails for good."""
    place: int = 0
    """Which of the models `model` is; 0 is the agent's own."""
    keeps: int | None = None
    """Tokens of a request that the model's server seems to keep, where it cuts longer ones in silence."""
    ratio: float = 1.0
    """Tokens that the model's server reports for each one that we count."""
    turned: bool = False
    """Whether the protocol `auto` has turned to JSON in this thread."""
    _offers: dict[tuple[object, ...], Offer] = field(default_factory=dict)

    def in_use(self, events: Sequence[Event], protocol: ProtocolName | None = None) -> "Wiring":
        """The wiring with the model that answers next in a run with this log, and what was learned of its server.

        `protocol` is the run's own, where its Context names one.
        """
        settings = self.settings
        if protocol is not None and protocol != settings.protocol:
            settings = settings.model_copy(update={"protocol": protocol})
        newest = last_reply_of_run(events)
        place = place_in_use(newest, 1 + len(self.fallback))
        keeps = newest.get("keeps") if newest is not None and newest.get("place", 0) == place else None
        model = self.fallback[place - 1] if place else self.model
        ratio = token_ratio(events, model_name(model))
        turned = has_turned(settings.protocol, events)
        if settings is self.settings and (place, keeps, ratio, turned) == (0, None, 1.0, False):
            return self
        summary_model = model if self.summary_model is self.model else self.summary_model
        return replace(
            self,
            model=model,
            settings=settings,
            summary_model=summary_model,
            place=place,
            keeps=keeps,
            ratio=ratio,
            turned=turned,
        )

    def settings_now(self) -> Settings:
        """The settings of the current run: those of the graph, updated by the run's Context."""
        return effective(self.settings, get_runtime().context)

    @cached_property
    def outside(self) -> frozenset[str]:
        """The tools whose results come from outside, and those that bring such results back."""
        declared = {name for name, policy in self.toolbox.policies.items() if policy.untrusted}
        return frozenset(declared | {READ_RESULT, RECALL}) if declared else frozenset()

    def system_prompt(self, settings: Settings, messages: Sequence[BaseMessage]) -> str:
        """The system prompt as it is sent: with the rule about text from outside, and the form of the answer.

        A preset's own prompt is in the language of the conversation.
        """
        form = self.output.instruction if self.output else ""
        prompt = in_language(settings.system_prompt, language_of(messages))
        return "\n\n".join(filter(None, [prompt, RULE if self.outside else "", form]))

    def budget(self, settings: Settings) -> int:
        """Tokens, as we count them, that the next request may have.

        What the server keeps, and a fallback's own window, may make it smaller; so does a tokenizer that makes more
        tokens than ours. One that makes fewer makes it larger, unless the server cuts: then its reports may be too low.
        """
        own = default_budget(self.model, settings.model)
        budget = settings.context_tokens or own
        if self.place and self.model.profile:
            budget = min(budget, own)
        if self.keeps is None:
            return max(1, int(budget / self.ratio))
        return max(1, int(min(budget, self.keeps) / max(1.0, self.ratio)))

    def profile(self) -> Profile:
        """How requests to this model are rendered and counted."""
        memory = self.settings.memory
        told = memory.observation_characters if memory.steps == "triples" else None
        rewriting = self._rewriting if self.text_protocol else None
        return Profile(model=model_name(self.model), observation_characters=told, rewriting=rewriting)

    def _rewriting(self, message: AIMessage) -> int:
        assert self.text_protocol is not None
        return rewriting_tokens(message, self.text_protocol, self._text_tools, model_name(self.model))

    @cached_property
    def _text_tools(self) -> TextTools:
        return text_tools(list(self.toolbox.tools.values()))

    def model_settings(self, settings: Settings) -> ModelSettings:
        """The settings of a model call; one try where the model's client makes retries of its own."""
        return settings.model.model_copy(update={"tries": 1}) if keeps_retries(self.model) else settings.model

    @property
    def protocol(self) -> ProtocolName:
        """How the next request offers tools: `auto` says which it is once it has turned or the server refused tools."""
        turned = self.turned or (self.settings.protocol == "auto" and "tools" in known_refusals(self.model))
        return TURNS_TO if turned else self.settings.protocol

    @property
    def text_protocol(self) -> FormName | None:
        """The text protocol of the next request, if it has one."""
        return text_protocol(self.protocol)

    def demands_finish(self) -> bool:
        """Whether a reply without a finish reason counts as cut off."""
        return demands_finish(self.model)

    def offer(self, *, withheld: frozenset[str], closing: bool, plain: bool) -> Offer:
        """The model bound to the tools on offer: none in a closing request.

        `plain` turns streaming off in the model itself, so that a caller who streams the graph does not turn it on.
        """
        names = frozenset(self.toolbox.tools) - withheld
        key = (self.place, names, closing, plain, self.protocol, known_refusals(self.model))
        if key not in self._offers:
            tools = [tool for name, tool in self.toolbox.tools.items() if name in names]
            strict = self.settings.tools.strict
            form = self.output.response_format if self.output is not None and closing else None
            self._offers[key] = make_offer(
                self.model,
                tools,
                closing=closing,
                strict=strict,
                streaming=not plain,
                form=form,
                one_call=self.settings.tools.calls_per_turn == 1,
                protocol=self.protocol,
            )
        return self._offers[key]

    def effect(self, name: str) -> Effect | None:
        """The effect a tool is run with; None for a tool that does not exist."""
        return effect_of(self.toolbox.policy(name)) if name in self.toolbox.tools else None

    def journaled(self, record: Record, language: Language, *, own: bool = True) -> Outcome:
        """The outcome that the journal holds for a call: the real result if it was done, else that nobody knows.

        `own` is false for a record of another call of the same signature, of a branch this one has left.
        """
        if record["state"] == "done":
            note = "" if own else f"{told('done_before', language)}\n"
            failure = None if record["status"] == "ok" else {"kind": "permanent", "text": record["text"][:500]}
            return Outcome(record["status"] if own else "served", note + record["text"], cast("Any", failure))
        text = told("started", language, tool=record["tool"], step=record["step"])
        return Outcome("unknown", text, {"kind": "permanent", "text": "outcome unknown"})


def verdict(go: Any, **changes: Any) -> Verdict:
    """A verdict with everything at rest but what is given."""
    rest: Mapping[str, Any] = {
        "closing": False,
        "reshaping": False,
        "call_id": None,
        "calls": [],
        "withheld": [],
        "nudge": "",
        "question": "",
        "stop": None,
        "policy": "",
        "reason": "",
    }
    return cast("Verdict", {"go": go, **rest, **changes})
