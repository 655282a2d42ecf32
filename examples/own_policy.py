"""A guard policy of one's own in a few lines: one search engine, three searches.

uv run python examples/own_policy.py
"""

from dataclasses import dataclass

from langchain_core.tools import tool

from loopwright import Agent, Finding, GuardView, Settings, default_policies, tool_policy
from loopwright.testing import ScriptedModel, call, reply


@dataclass(frozen=True)
class FewSearches:
    """Blocks every search after the third: what three did not find, a fourth will not."""

    name: str = "few_searches"
    most: int = 3

    def __call__(self, view: GuardView) -> Finding | None:
        if view.call is None or view.call.tool != "search":
            return None
        done = [e for e in view.window if e["kind"] == "call" and e["tool"] == "search" and e["status"] == "ok"]
        if len(done) < self.most:
            return None
        return Finding(
            "block", self.name, f"{len(done)} searches are enough, answer from what they found", view.call.id
        )


@tool
def search(words: str) -> str:
    """Search the web. Use when facts are needed; do not use for arithmetic."""
    return f"three pages about {words}"


model = ScriptedModel([*(reply("", call("search", words=f"try {n}")) for n in range(5)), "This is what I found."])
settings = Settings()
agent = Agent(
    model,
    [tool_policy(search, effect="read")],
    settings=settings,
    policies=(FewSearches(), *default_policies(settings)),
)
result = agent.run("Find everything about loops")
for message in result.messages:
    print(f"{message.type:6}", message.text or "(calls a tool)")
