"""The requests for a summary: made by the summary model, hidden from the message stream, and counted."""

from dataclasses import dataclass

from langchain_core.messages import BaseMessage

from loopwright.memory import count_message
from loopwright.models import BoundModel, Reply, ask_model, demands_finish, model_name, tokens_of
from loopwright.nodes.model_event import cost
from loopwright.nodes.wiring import Wiring
from loopwright.settings import Settings
from loopwright.state import CompressionEvent
from loopwright.steps import Core


@dataclass
class SummaryCalls:
    """Makes the summary requests of one compression and adds up what they take."""

    wiring: Wiring
    settings: Settings
    made: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = None
    problem: str = ""
    """Why the last request failed."""

    def ask(self, request: list[BaseMessage]) -> Core[str | None]:
        """The summary model's text, or None when it failed."""
        model = self.wiring.summary_model
        reply = yield from ask_model(
            BoundModel(model, streaming=self.settings.model.stream, tags=("nostream",)),
            request,
            self.wiring.model_settings(self.settings),
            used_ids=set(),
            demands_finish=demands_finish(model),
            on_retry=lambda *_: None,
        )
        self._count(request, reply)
        self.problem = reply.failure["text"] if reply.failure else ""
        return reply.message.text if reply.message is not None and reply.failure is None else None

    def _count(self, request: list[BaseMessage], reply: Reply) -> None:
        if reply.message is None:
            return
        name = model_name(self.wiring.summary_model)
        tokens_in, tokens_out = tokens_of(reply.usage, "input_tokens"), tokens_of(reply.usage, "output_tokens")
        if tokens_in is None:
            tokens_in = sum(count_message(message, name) for message in request)
        if tokens_out is None:
            tokens_out = count_message(reply.message, name)
        spent = cost(reply, name, self.wiring.settings, tokens_in, tokens_out)
        self.made += 1
        self.tokens_in += tokens_in
        self.tokens_out += tokens_out
        if spent is not None:
            self.cost_usd = (self.cost_usd or 0.0) + spent

    def note(self, event: CompressionEvent) -> CompressionEvent:
        """The event with what its summary took; as it is when no request was answered."""
        if not self.made:
            return event
        return {
            **event,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "cost_usd": self.cost_usd,
        }
