"""A core as a node of a LangGraph graph, and where such a node is run."""

from collections.abc import Callable, Generator
from functools import partial
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig

from loopwright.steps import Core, adrive, drive


def thread_here() -> str | None:
    """The thread on which the node that asks is run; None for a graph without a checkpointer."""
    from langgraph.runtime import get_runtime

    info = get_runtime().execution_info
    return info.thread_id if info is not None else None


class Node(Runnable[Any, Any]):
    """A core as a graph node, sync and async; one that waits for nothing may be a plain function.

    (RunnableLambda would trace each node twice and cost 0.2 ms a step.)
    """

    def __init__(self, core: Callable[..., Core[Any] | Any], *bound: object) -> None:
        self.core = partial(core, *bound)
        self.name = core.__name__

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Run the core with the state; `config` reaches it through LangGraph's context variables."""
        result = self.core(input)
        return drive(result) if isinstance(result, Generator) else result

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Run the core with the state, awaiting its outside calls."""
        result = self.core(input)
        return await adrive(result) if isinstance(result, Generator) else result
