"""One request to the model with everything that can go wrong on the way: tries, waiting, cut streams, refusals."""

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from langchain_core.messages import AIMessage, BaseMessage
from langgraph.errors import GraphBubbleUp

from loopwright.models.adapting import known_refusals, remember_refusal
from loopwright.models.binding import BoundModel, ChatRunnable
from loopwright.models.failures import CutOff, model_failure, retry_after
from loopwright.models.refusals import Part, refused_part
from loopwright.models.replies import Reply, read_reply
from loopwright.settings import ModelSettings
from loopwright.state import Failure
from loopwright.steps import Core, Do

OnRetry: TypeAlias = Callable[[Failure, str], None]
"""Called with the failure of a try that will be repeated, and the message id whose tokens were already shown."""


def ask_model(
    model: BoundModel,
    request: list[BaseMessage],
    settings: ModelSettings,
    *,
    used_ids: set[str],
    demands_finish: bool,
    on_retry: OnRetry,
) -> Core[Reply]:
    """The model's reply to the request, or one with the failure that remained when all tries were used.

    Transient failures are tried again with doubling, jittered waits, or after what the server asked for; all waiting
    together stays under `settings.retry_seconds`. A parameter that the server does not know is left out at once, now
    and in every later request of the process (`Reply.left_out`), which counts as no try. With `demands_finish` a reply
    without a finish reason is cut off.
    """
    waited, attempt = 0.0, 0
    left_out: list[Part] = []
    while True:
        parts: list[AIMessage] = []
        known = known_refusals(model.model)
        try:
            yield Do(_collect, _acollect, (model.runnable(), request, parts))
            reply = read_reply(parts, used_ids, settings.max_tokens) if parts else None
            if reply is None or (demands_finish and not reply.finish_reason):
                raise CutOff("the reply ended without a finish reason")
        except GraphBubbleUp:
            raise
        except Exception as error:
            part = refused_part(error)
            news = part in known_refusals(model.model) - known  # another thread was told so while this request was out
            if part is not None and part not in left_out and (news or model.can_do_without(part)):
                remember_refusal(model.model, part)
                left_out.append(part)
                continue
            failure = model_failure(error)
            delay = _delay(error, attempt, settings)
            last = attempt + 1 >= settings.tries or waited + delay > settings.retry_seconds
            if failure["kind"] != "transient" or last:
                return Reply(None, retries=attempt, failure=failure, left_out=tuple(left_out))
            on_retry(failure, next((part.id for part in parts if part.id), ""))
            waited, attempt = waited + delay, attempt + 1
            yield Do(time.sleep, asyncio.sleep, (delay,))
        else:
            return replace(reply, retries=attempt, failure=_judged(reply), left_out=tuple(left_out))


def _delay(error: Exception, attempt: int, settings: ModelSettings) -> float:
    asked = retry_after(error)
    if asked is not None:
        return asked
    return settings.retry_delay * 2.0**attempt * random.uniform(0.75, 1.25)


def _judged(reply: Reply) -> Failure | None:
    """The failure of a reply that came whole: filtered, refused, empty or cut off by its length."""
    message = reply.message
    assert message is not None
    refusal = message.additional_kwargs.get("refusal")
    if reply.finish_reason == "content_filter":
        return {"kind": "content_filter", "text": "The provider's content filter ended the reply."}
    if (isinstance(refusal, str) and refusal) or reply.finish_reason == "refusal":
        return {"kind": "refusal", "text": str(refusal or message.text)[:500]}
    if reply.finish_reason in ("length", "max_tokens"):
        return {"kind": "invalid_reply", "text": "cut off at the reply's token limit"}
    if message.tool_calls:
        return None
    if message.invalid_tool_calls:
        return {"kind": "invalid_reply", "text": "no call could be read"}
    if not message.text.strip():
        return {"kind": "invalid_reply", "text": "empty"}
    return None


def _collect(model: ChatRunnable, request: list[BaseMessage], parts: list[AIMessage]) -> None:
    parts.extend(model.stream(request))  # keeps what came before an error; one whole message where streaming is off


async def _acollect(model: ChatRunnable, request: list[BaseMessage], parts: list[AIMessage]) -> None:
    async for part in model.astream(request):
        parts.append(part)  # noqa: PERF401 - keeps what came before an error
