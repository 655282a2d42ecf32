"""The place of the run that is going on, for what outlives its open storage: the late end of a write."""

from typing import TYPE_CHECKING

from loopwright.storage.place import Place

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

_KEY = "__loopwright_place"


def kept_at(config: "RunnableConfig", place: Place) -> "RunnableConfig":
    """The config of a run that is kept at this place: in `configurable` it reaches every node, and is not stored."""
    return {**config, "configurable": {**config.get("configurable", {}), _KEY: place}}


def place_here() -> Place | None:
    """Where this run is kept; None for a graph whose checkpointer and store somebody else opened."""
    from langgraph.config import get_config  # here, so that a thread is read without importing LangGraph

    place: Place | None = get_config().get("configurable", {}).get(_KEY)
    return place
