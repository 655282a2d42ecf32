"""The model with the tools that one request offers, and the tokens that these take of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from loopwright.memory import count_text, count_tools
from loopwright.models import (
    BoundModel,
    Offered,
    known_refusals,
    model_name,
    takes_one_call,
    takes_response_format,
    takes_strict_schemas,
)
from loopwright.nodes.protocol import TURNS_TO, text_protocol
from loopwright.settings import ProtocolName
from loopwright.strict_schema import strict_tool


@dataclass(frozen=True)
class Offer:
    """The model bound to a choice of tools, and the tokens their schemas take in each request."""

    model: BoundModel
    tokens: int


def make_offer(
    model: BaseChatModel,
    tools: Sequence[BaseTool],
    *,
    closing: bool,
    strict: bool | None,
    streaming: bool,
    form: dict[str, Any] | None = None,
    one_call: bool = False,
    protocol: ProtocolName = "native",
) -> Offer:
    """The offer of these tools; a closing one keeps them aside, for servers that refuse a tool history without tools.

    `strict` None sends strict schemas where the endpoint holds its models to them; `form` is a `response_format`; with
    `one_call` the server is told that its model may make one call a reply. A text `protocol` puts the tools into the
    system message, where they take tokens as well; `auto` sends them as tools as long as the server takes them.
    """
    strictly = takes_strict_schemas(model) if strict is None else strict
    offered = [_offered(tool, strictly) for tool in tools]
    options: dict[str, Any] = {}
    if form is not None and takes_response_format(model):
        options["response_format"] = form
    if one_call and offered and not closing and takes_one_call(model):
        options["parallel_tool_calls"] = False
    bound = BoundModel(
        model,
        tools=() if closing else offered,
        spare_tools=offered if closing else (),
        options=options,
        streaming=streaming,
        protocol=text_protocol(protocol),
        spare_protocol=TURNS_TO if protocol == "auto" else None,
    )
    refused, name = known_refusals(model), model_name(model)
    if bound.spoken(refused):
        return Offer(bound, count_text(bound.prompt(refused), name))
    sent = [tool if isinstance(tool, dict) else convert_to_openai_tool(tool) for tool in bound.sent_tools(refused)]
    return Offer(bound, count_tools(sent, name) if sent else 0)


def _offered(tool: BaseTool, strictly: bool) -> Offered:
    return Offered(tool, strict_tool(convert_to_openai_tool(tool)) if strictly else None)
