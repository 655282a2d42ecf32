"""A tool of one's own: a plain function, and what the loop may assume about it.

uv run python examples/own_tool.py
"""

from langchain_core.tools import tool

from loopwright import Agent, tool_policy
from loopwright.testing import ScriptedModel, call, reply

ORDERS = {"A17": "shipped"}


@tool
def order_status(order: str) -> str:
    """Status of an order by its number. Use when a customer asks about an order; do not use for prices."""
    return f"{order}: {ORDERS[order]}"


@tool
def cancel_order(order: str) -> str:
    """Cancel an order. Use only when the customer asked for it; an error means it was shipped already."""
    ORDERS[order] = "cancelled"
    return f"{order} was cancelled"


tools = [
    tool_policy(order_status, effect="read", timeout=5),
    tool_policy(cancel_order, effect="write", approval=True),  # a person decides; journaled, never fired twice
]
# A scripted model stands in for a real one, so that this runs anywhere.
model = ScriptedModel(
    [
        reply("", call("order_status", order="A17")),
        reply("", call("cancel_order", order="A17")),
        "Order A17 is cancelled.",
    ]
)
agent = Agent(model, tools=tools)
paused = agent.run("Cancel my order A17 please", thread="customer-1")
for question in paused.pending:
    print("asked:", question.call, "-", question.description)
result = agent.resume("customer-1", decisions={q.id: {"type": "approve"} for q in paused.pending})
print(result.answer)
print(ORDERS)
