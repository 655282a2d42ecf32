"""The claim on a thread: one run at a time, and a way to ask in the middle of a run whether it still holds."""

import time
from typing import TYPE_CHECKING, Protocol

from loopwright.errors import ThreadBusy
from loopwright.steps import Core, Do

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

_KEY = "__loopwright_claim"


class Claim(Protocol):
    """A thread that is held. Asking costs a round trip to where the claim is kept: 0.04 ms on a local PostgreSQL."""

    def check(self) -> None:
        """Return while the thread is still held. Raises ThreadLost."""
        ...

    async def acheck(self) -> None:
        """Like `check`, awaiting."""
        ...


class OwnClaim:
    """A claim that lasts as long as its process: there is nothing to ask."""

    def check(self) -> None:
        """Return at once."""

    async def acheck(self) -> None:
        """Return at once."""


def claimed(config: "RunnableConfig", claim: Claim) -> "RunnableConfig":
    """The config of a run under this claim: in `configurable` it reaches every node, and no checkpoint keeps it."""
    return {**config, "configurable": {**config.get("configurable", {}), _KEY: claim}}


def still_claimed() -> Core[None]:
    """Return while this run's claim holds; a run without one (under LangGraph's server) has nothing to ask.

    Raises ThreadLost.
    """
    from langgraph.config import get_config  # here, so that a thread is read without importing LangGraph

    claim: Claim | None = get_config().get("configurable", {}).get(_KEY)
    if claim is not None:
        yield Do(claim.check, claim.acheck)
    return None


def thread_busy(thread: str, holder: str) -> ThreadBusy:
    """The refusal of a thread that `holder` runs."""
    return ThreadBusy(f"Thread {thread!r} is being run by {holder}: wait for that run to end, or use another thread.")


def local_time(at: float) -> str:
    """Unix time as a person reads it here."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))
