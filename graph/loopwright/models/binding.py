"""A chat model together with the tools and options of a request, in the form that its endpoint takes."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool

from loopwright.models.adapting import known_refusals, without
from loopwright.models.loading import takes_response_format, takes_strict_schemas
from loopwright.models.protocols import FORMS, FormName, ProtocolModel, TextTools, prompt_of, text_tools
from loopwright.models.refusals import Part

ChatRunnable: TypeAlias = Runnable[LanguageModelInput, AIMessage]
Schema: TypeAlias = dict[str, Any]
"""A tool in OpenAI's form."""


@dataclass(frozen=True)
class Offered:
    """A tool on offer: as it is, and as a strict schema where it can be one and strict schemas are wanted."""

    tool: BaseTool
    strict: Schema | None = None


@dataclass(frozen=True)
class BoundModel:
    """A chat model with the tools of a request; what is sent leaves out what its endpoint is known to refuse."""

    model: BaseChatModel
    tools: Sequence[Offered] = ()
    spare_tools: Sequence[Offered] = ()
    """Sent with `tool_choice` "none" when there are no tools and the server refuses a tool history without them."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Further arguments of the request, as `response_format`."""
    streaming: bool = True
    """Off turns streaming off in the model itself, so that a caller who streams the graph does not turn it on."""
    tags: tuple[str, ...] = ()
    """LangChain tags of the request; `nostream` keeps its tokens out of the graph's message stream."""
    protocol: FormName | None = None
    """The text protocol that is spoken with the model; None sends the tools as tools."""
    spare_protocol: FormName | None = None
    """Spoken in its stead once the server has refused tools."""
    _built: dict[frozenset[Part], ChatRunnable] = field(default_factory=dict, compare=False, repr=False)

    def spoken(self, refused: Collection[Part]) -> FormName | None:
        """The text protocol of the request, if it has one."""
        return self.protocol or (self.spare_protocol if "tools" in refused else None)

    def prompt(self, refused: Collection[Part]) -> str:
        """What the text protocol adds to the system message."""
        protocol = self.spoken(refused)
        unasked = not self.tools and "response_format" in self.options
        return prompt_of(protocol, self._text_tools()) if protocol and not unasked else ""

    def sent_tools(self, refused: Collection[Part]) -> list[BaseTool | Schema]:
        """The tools as they are sent: strict where they can be and the endpoint takes that; none in a text protocol."""
        if self.spoken(refused):
            return []
        offered = self.tools or (self.spare_tools if "history_without_tools" in refused else ())
        return [each.tool if each.strict is None or "strict" in refused else each.strict for each in offered]

    def runnable(self) -> ChatRunnable:
        """What is called, for all that is known of the endpoint now."""
        refused = known_refusals(self.model)
        if refused not in self._built:
            self._built[refused] = self._without(refused)
        return self._built[refused]

    def _without(self, refused: frozenset[Part]) -> ChatRunnable:
        tools = self.sent_tools(refused)
        model = without(self.model, refused, has_tools=bool(tools))
        if not self.streaming:
            model = model.model_copy(update={"disable_streaming": True})
        options = {name: value for name, value in self._options(refused).items() if name not in refused}
        if tools and not self.tools and "tool_choice" not in refused:
            options["tool_choice"] = "none"
        bound: ChatRunnable = model
        if tools:
            bound = model.bind_tools(tools, **_sendable(model, options))
        elif options:
            bound = model.bind(**_sendable(model, options))
        if protocol := self.spoken(refused):
            bound = ProtocolModel(
                inner=bound,
                protocol=protocol,
                unasked="response_format" in self.options,
                disable_streaming=not self.streaming,
            ).bind_tools([each.tool for each in self.tools])
        return bound.with_config(tags=list(self.tags)) if self.tags else bound

    def _options(self, refused: Collection[Part]) -> Mapping[str, Any]:
        """The further arguments: in a text protocol those that have to do with its form, none about tools."""
        protocol = self.spoken(refused)
        if not protocol:
            return self.options
        options = {name: value for name, value in self.options.items() if name != "parallel_tool_calls"}
        if "response_format" not in options and takes_response_format(self.model):
            strict = takes_strict_schemas(self.model)
            form = FORMS[protocol].response_format(self._text_tools(strict=strict), strict=strict)
            if strict and form is not None and not all(each.strict for each in self.tools):
                form = {"type": "json_object"}  # a schema that is not strict throughout is refused there
            options |= {"response_format": form} if form is not None else {}
        return options

    def _text_tools(self, *, strict: bool = False) -> TextTools:
        return text_tools([each.strict if strict and each.strict else each.tool for each in self.tools])

    def can_do_without(self, part: Part) -> bool:
        """Whether leaving this out changes the request: what it does not hold cannot be why it was refused."""
        refused = known_refusals(self.model)
        if part in refused:
            return False
        if part == "strict":
            return any(isinstance(tool, dict) for tool in self.sent_tools(refused))
        if part == "history_without_tools":
            return bool(self.spare_tools) and not self.tools
        if part == "tools":
            return bool(self.tools) and self.protocol is None and self.spare_protocol is not None
        tools = self.sent_tools(refused)
        if part in self._options(refused) or (part == "tool_choice" and tools and not self.tools):
            return True
        now = without(self.model, refused, has_tools=bool(tools))
        return without(now, {part}, has_tools=bool(tools)) is not now


def _sendable(model: BaseChatModel, options: dict[str, Any]) -> dict[str, Any]:
    """The options with `response_format` in the request's body.

    As an argument langchain-openai would pass it to another client method, which raises at a reply that is cut off or
    does not fit, and hides what came.
    """
    form = options.pop("response_format", None)
    if form is None:
        return options
    body = {**(getattr(model, "extra_body", None) or {}), "response_format": form}
    return {**options, "extra_body": body}
