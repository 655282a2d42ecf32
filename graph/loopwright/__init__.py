"""A tool-calling agent as a LangGraph state machine that you can see, stop, resume and trust."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from loopwright.agent import Agent
    from loopwright.context import Context
    from loopwright.errors import LoopwrightError
    from loopwright.graph import build_graph
    from loopwright.pending import Pending
    from loopwright.policies import Finding, GuardView, Policy, default_policies
    from loopwright.report import RunReport
    from loopwright.results import RunResult, Token
    from loopwright.settings import Settings
    from loopwright.tooling import tool_policy
    from loopwright.tooling.idempotency import IdempotencyKey

_HOMES = {
    "Agent": "agent",
    "Context": "context",
    "Finding": "policies",
    "GuardView": "policies",
    "IdempotencyKey": "tooling.idempotency",
    "LoopwrightError": "errors",
    "Pending": "pending",
    "Policy": "policies",
    "RunReport": "report",
    "RunResult": "results",
    "Settings": "settings",
    "Token": "results",
    "build_graph": "graph",
    "default_policies": "policies",
    "tool_policy": "tooling",
}

__all__ = [
    "Agent",
    "Context",
    "Finding",
    "GuardView",
    "IdempotencyKey",
    "LoopwrightError",
    "Pending",
    "Policy",
    "RunReport",
    "RunResult",
    "Settings",
    "Token",
    "build_graph",
    "default_policies",
    "tool_policy",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that the command line starts without LangGraph."""
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f"loopwright.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'loopwright' has no attribute {name!r}")
