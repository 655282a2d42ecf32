"""The only place that calls the model."""

import time

from loopwright.events import publish
from loopwright.models import Reply, ask_model
from loopwright.models.rescue import rescue
from loopwright.nodes.model_event import model_event
from loopwright.nodes.request import next_parts, next_request, offer_for
from loopwright.nodes.wiring import Wiring
from loopwright.state import Failure, State, Update
from loopwright.steps import Core


def call_model(wiring: Wiring, state: State) -> Core[Update]:
    """Send the next request and keep what came: the reply as a message, and one event with tokens and failure."""
    started = time.perf_counter()
    wiring = wiring.in_use(state["events"], wiring.settings_now().protocol)
    settings, verdict = wiring.settings_now(), state["verdict"]
    offer = offer_for(wiring, settings, state, verdict)
    parts = next_parts(wiring, settings, state, verdict)

    def retried(failure: Failure, shown_id: str) -> None:
        """Tell front ends at once to drop what was shown of a try that is made again; the log keeps the last try."""
        publish(model_event(wiring, state, Reply(None, failure=failure), parts, started, shown_id))

    reply = yield from ask_model(
        offer.model,
        next_request(wiring, settings, state, verdict),
        wiring.model_settings(settings),
        used_ids={message.id for message in state["messages"] if message.id},
        demands_finish=wiring.demands_finish(),
        on_retry=retried,
    )
    reply = rescue(reply, wiring.toolbox.arguments())
    message_id = reply.message.id or "" if reply.message else ""
    update: Update = {"events": publish(model_event(wiring, state, reply, parts, started, message_id))}
    if reply.message is not None:
        update["messages"] = [reply.message]
    return update
