"""The machine on one page: seven nodes, and the edges between them."""

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import BaseStore

from loopwright import nodes
from loopwright.builtin import read_result_tool
from loopwright.models import load_model, take_over_retries
from loopwright.policies import Policy, default_policies
from loopwright.routing import GUARD_PATHS, after_guard
from loopwright.settings import Context, Settings
from loopwright.state import Input, Output, State
from loopwright.steps import Node
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
    checkpointer: BaseCheckpointSaver[Any] | None = None,
    store: BaseStore | None = None,
) -> CompiledStateGraph[State, Context, Input, Output]:
    """The agent as a plain compiled LangGraph graph, usable alone or as a node of another.

    With a checkpointer, invoke it with `durability="sync"`. Raises UnknownModel and SettingsError.
    """
    settings = settings or Settings()
    model = take_over_retries(load_model(model, settings=settings.model) if isinstance(model, str) else model)
    wiring = nodes.Wiring(
        model=model,
        toolbox=Toolbox([*tools, read_result_tool()], settings.tools),
        settings=settings,
        policies=tuple(default_policies(settings) if policies is None else policies),
        summary_model=summary_model or model,
    )
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
