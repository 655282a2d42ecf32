"""The event of one model call: its tokens, its cost, and what the user should know about it."""

from collections.abc import Iterator, Sequence

from loopwright.events import since_begin, stamp
from loopwright.memory import count_message, total
from loopwright.models import Reply, cost_of, model_name, price_of, tokens_of, truncation_notice, window_kept
from loopwright.models.replies import PROTOCOL
from loopwright.nodes.wiring import Wiring
from loopwright.settings import Settings
from loopwright.state import Event, ModelEvent, Parts, State


def model_event(
    wiring: Wiring, state: State, reply: Reply, parts: Parts, started: float, message_id: str
) -> ModelEvent:
    """The event of a reply, or of the failure in its place; tokens are estimated where the server reported none."""
    name = model_name(wiring.model)
    request_tokens = total(parts)
    tokens_in = tokens_of(reply.usage, "input_tokens")
    tokens_out = tokens_of(reply.usage, "output_tokens")
    estimated_out = count_message(reply.message, name) if reply.message is not None else 0
    mark = stamp(state["run"]["id"], state["run"]["model_calls"] + 1, started)
    event: ModelEvent = {
        "run": mark["run"],
        "step": mark["step"],
        "at": mark["at"],
        "seconds": mark["seconds"],
        "kind": "model",
        "message_id": message_id,
        "model": reply.model or name,
        "finish_reason": reply.finish_reason,
        "request_tokens": request_tokens,
        "parts": parts,
        "budget": wiring.budget(wiring.settings_now()),
        "tokens_in": request_tokens if tokens_in is None and reply.message is not None else tokens_in or 0,
        "tokens_out": estimated_out if tokens_out is None else tokens_out,
        "cost_usd": None,
        "estimated": tokens_in is None,
        "retries": reply.retries,
        "failure": reply.failure,
    }
    if reply.message is not None:
        event["cost_usd"] = cost(reply, name, wiring.settings, event["tokens_in"], event["tokens_out"])
    if event["model"] != name:
        event["counted_as"] = name
    if wiring.place:
        event["place"] = wiring.place
    if reply.rescued:
        event["rescued"] = reply.rescued
    if wiring.text_protocol is not None:
        event["protocol"] = wiring.text_protocol
    if state["verdict"]["withheld"]:
        event["withheld"] = state["verdict"]["withheld"]
    return _with_notices(event, wiring, state, reply)


def cost(reply: Reply, name: str, settings: Settings, tokens_in: int, tokens_out: int) -> float | None:
    """USD of a reply by the model's name, as the server gave it or else as it was asked for; None without a price."""
    own = settings.model.prices
    price = price_of(reply.model, own) or price_of(name, own)
    return cost_of(price, reply.usage, tokens_in, tokens_out)


def _with_notices(event: ModelEvent, wiring: Wiring, state: State, reply: Reply) -> ModelEvent:
    """The event with what the user should know, and the window that the server seems to have."""
    log = state["events"]
    keeps = window_kept(log, event)
    notices = [
        *_left_out(reply),
        *_turned(event, wiring, log),
        *_ignored(reply),
        *_unpriced(event, log, state["run"]["limits"]),
    ]
    if keeps is not None:
        event["keeps"] = keeps
        if not any(e["kind"] == "model" and "keeps" in e for e in since_begin(log)):
            notices.append(truncation_notice(event, keeps))
    if notices:
        event["notices"] = notices
    return event


def _left_out(reply: Reply) -> Iterator[str]:
    for part in reply.left_out:
        said = part.replace("_", " ") if part in ("strict", "history_without_tools", "tools") else part
        yield f"The server refused {said}: the request was made again without it, as later ones are."


def _turned(event: ModelEvent, wiring: Wiring, before: Sequence[Event]) -> Iterator[str]:
    """Told once a thread."""
    spoken = event.get("protocol")
    if wiring.settings.protocol != "auto" or not spoken:
        return
    if not any(e["kind"] == "model" and e.get("protocol") for e in before):
        why = "The model wrote its calls as text twice" if wiring.turned else "The server takes no tools"
        yield f"{why}: the rest of this thread asks for them in JSON (protocol {spoken})."


def _ignored(reply: Reply) -> Iterator[str]:
    told = reply.message.response_metadata.get(PROTOCOL, {}) if reply.message is not None else {}
    if "ignored" in told:
        yield f"The reply held {told['ignored']} more JSON objects: the first counted, the others nothing."


def _unpriced(event: ModelEvent, log: Sequence[Event], limits: dict[str, float]) -> Iterator[str]:
    """Told once a run: a limit in USD cannot stop what has no price."""
    if "cost" not in limits or event["cost_usd"] is not None:
        return
    answered = [e for e in (*since_begin(log), event) if e["kind"] == "model" and e["failure"] is None]
    if answered == [event]:
        yield (
            f"The price of {event['model']} is not known, so that the limit of {limits['cost']:g} USD does not count "
            "its calls: name it in the settings, model.prices."
        )
