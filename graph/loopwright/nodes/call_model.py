"""The only place that calls the model."""

import time

from loopwright.events import publish, stamp
from loopwright.memory import count_message, total
from loopwright.models import Reply, ask_model, model_name
from loopwright.models.replies import tokens_of
from loopwright.nodes.request import next_parts, next_request, offer_for
from loopwright.nodes.wiring import Wiring
from loopwright.state import Failure, ModelEvent, Parts, State, Update
from loopwright.steps import Core


def call_model(wiring: Wiring, state: State) -> Core[Update]:
    """Send the next request and keep what came: the reply as a message, and one event with tokens and failure."""
    started = time.perf_counter()
    settings, verdict = wiring.settings_now(), state["verdict"]
    offer = offer_for(wiring, settings, state, verdict)
    parts = next_parts(wiring, settings, state, verdict)
    name = model_name(wiring.model)

    def retried(failure: Failure, shown_id: str) -> None:
        """Tell front ends at once to drop what was shown of a try that is made again; the log keeps the last try."""
        publish(_event(state, Reply(None, failure=failure), parts, name, started, shown_id))

    reply = yield from ask_model(
        offer.model,
        next_request(wiring, settings, state, verdict),
        wiring.model_settings(settings),
        used_ids={message.id for message in state["messages"] if message.id},
        demands_finish=wiring.demands_finish(),
        on_retry=retried,
    )
    event = _event(state, reply, parts, name, started, reply.message.id or "" if reply.message else "")
    update: Update = {"events": publish(event)}
    if reply.message is not None:
        update["messages"] = [reply.message]
    return update


def _event(state: State, reply: Reply, parts: Parts, name: str, started: float, message_id: str) -> ModelEvent:
    request_tokens = total(parts)
    tokens_in = tokens_of(reply.usage, "input_tokens")
    tokens_out = tokens_of(reply.usage, "output_tokens")
    estimated_out = count_message(reply.message, name) if reply.message is not None else 0
    return {
        **stamp(state["run"]["id"], state["run"]["model_calls"] + 1, started),
        "kind": "model",
        "message_id": message_id,
        "model": reply.model or name,
        "finish_reason": reply.finish_reason,
        "request_tokens": request_tokens,
        "parts": parts,
        "tokens_in": request_tokens if tokens_in is None and reply.message is not None else tokens_in or 0,
        "tokens_out": estimated_out if tokens_out is None else tokens_out,
        "cost_usd": None,
        "estimated": tokens_in is None,
        "retries": reply.retries,
        "failure": reply.failure,
    }
