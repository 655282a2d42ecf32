"""The machine on one page: seven nodes, and the edges between them."""

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import BaseStore
from pydantic import BaseModel

from loopwright import nodes
from loopwright.builtins import built_in_tools
from loopwright.context import Context
from loopwright.errors import SettingsError
from loopwright.memory import count_text
from loopwright.models import check_prices, loaded, model_name
from loopwright.models.structured import OutputFormat
from loopwright.node import Node
from loopwright.policies import Policy, default_policies
from loopwright.routing import GUARD_PATHS, after_guard
from loopwright.settings import Settings
from loopwright.state import Input, Output, State
from loopwright.tooling import Toolbox

NODES: tuple[tuple[Callable[..., Any], str], ...] = (
    (nodes.begin, "Opens a run: fresh counters, calls left open answered; or extends the last one."),
    (
        nodes.guard,
        "Decides what happens next: repeats, errors, limits, the request's size. Every decision is an event.",
    ),
    (nodes.call_model, "The only call of the model: streams, retries, reads the reply strictly."),
    (nodes.execute_tools, "Runs one tool call: journal, approval, timeout, retries, one message."),
    (nodes.compress_memory, "Brings the next request within its budget; the transcript itself is never rewritten."),
    (nodes.ask, "Pauses until a person extends the budget or lets the run close."),
    (nodes.finish, "Writes the answer and the stop report."),
)


def build_graph(
    model: str | BaseChatModel,
    tools: Sequence[BaseTool | Callable[..., Any]] = (),
    settings: Settings | None = None,
    *,
    policies: Sequence[Policy] | None = None,
    summary_model: BaseChatModel | None = None,
    fallback: Sequence[str | BaseChatModel] = (),
    output: type[BaseModel] | None = None,
    checkpointer: BaseCheckpointSaver[Any] | None = None,
    store: BaseStore | None = None,
) -> CompiledStateGraph[State, Context, Input, Output]:
    """The agent as a plain compiled LangGraph graph, usable alone or as a node of another.

    With `output` the answer is one JSON object that fits this model, asked for once more where it does not.
    A request that `model` fails for good (its tries used up, not understood, no access) goes to the models of
    `fallback`, in order; the one that answers stays until the run ends.
    With a checkpointer, invoke it with `durability="sync"`: then a crash loses no finished step. `store` keeps the
    journal of writes and the whole of long results: without one a write may be repeated after a crash, and what was cut
    cannot be read on. `context=Context(...)` of an invocation overrides settings for one run.
    Raises UnknownModel, ModelFailure and SettingsError.
    """
    settings = settings or Settings()
    if isinstance(fallback, str):
        raise SettingsError(f"The fallback {fallback!r} is a text: give a list of models, also of one.")
    first, *others = (loaded(each, settings.model) for each in (model, *fallback))
    check_prices((first, *others), settings)
    wiring = nodes.Wiring(
        model=first,
        toolbox=Toolbox([*tools, *built_in_tools(settings.memory)], settings.tools),
        settings=settings,
        policies=tuple(default_policies(settings) if policies is None else policies),
        summary_model=first if summary_model is None else loaded(summary_model, settings.model),
        fallback=tuple(others),
        output=OutputFormat(output) if output is not None else None,
    )
    for each in (first, *others):
        count_text("", model_name(each))  # reads the token table now: an event loop must not wait for a file
    graph = StateGraph(State, context_schema=Context, input_schema=Input, output_schema=Output)
    for node, description in NODES:
        graph.add_node(node.__name__, Node(node, wiring), metadata={"description": description})
    graph.add_edge(START, "begin")
    graph.add_edge("begin", "guard")
    graph.add_conditional_edges("guard", after_guard, GUARD_PATHS)
    for node_name in ("call_model", "compress_memory", "execute_tools", "ask"):
        graph.add_edge(node_name, "guard")
    graph.add_edge("finish", END)
    return graph.compile(checkpointer=checkpointer, store=store, name="loopwright")


def wiring_of(graph: CompiledStateGraph[State, Context, Input, Output]) -> nodes.Wiring:
    """What the nodes of a graph of `build_graph` share: its model, tools and settings."""
    node = graph.builder.nodes["guard"].runnable
    assert isinstance(node, Node)
    wiring: nodes.Wiring = node.core.args[0]
    return wiring
