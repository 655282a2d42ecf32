"""A graph that reads and writes the states of a storage, whichever agent ran there; its model is never called."""

from typing import TypeAlias

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import StateSnapshot

from loopwright.context import Context
from loopwright.delivery import check_name
from loopwright.errors import UnknownThread
from loopwright.graph import build_graph
from loopwright.layout import check_format
from loopwright.state import Input, Output, State, run_of
from loopwright.storage import Storage

Graph: TypeAlias = CompiledStateGraph[State, Context, Input, Output]


def reader(storage: Storage) -> Graph:
    """The machine over this storage, for its states alone."""
    return build_graph("offline:demo", checkpointer=storage.saver, store=storage.store)


def config_of(thread: str, checkpoint: str | None = None, run_id: str | None = None) -> RunnableConfig:
    """LangGraph's config for a thread, or for one of its checkpoints; `run_id` goes into what is written.

    Raises UsageError for a thread that is no name.
    """
    check_name(thread)
    # the namespace is named because the saver in memory hands a config back as it came and then misses it
    config: RunnableConfig = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
    if checkpoint:
        config["configurable"]["checkpoint_id"] = checkpoint
    if run_id:
        config["metadata"] = {"run_id": run_id}
    return config


def look(graph: Graph, thread: str) -> StateSnapshot:
    """The thread's newest state, with what a step in progress has finished; empty values for an unknown thread."""
    return graph.get_state(config_of(thread))


def existing(graph: Graph, thread: str) -> StateSnapshot:
    """The thread's newest state. Raises UnknownThread, and UsageError for a format that is not read."""
    snapshot = look(graph, thread)
    if not snapshot.values:
        raise UnknownThread(f"There is no thread {thread!r} in this storage.")
    check_format(run_of(snapshot.values), thread)
    return snapshot


def checkpoint_of(config: RunnableConfig | None) -> str | None:
    """The checkpoint's id that a config names."""
    found = config["configurable"].get("checkpoint_id") if config and "configurable" in config else None
    return str(found) if found else None
