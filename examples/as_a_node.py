"""The agent as a node of a graph of your own, with a pause in the middle: a person approves, the parent goes on.

uv run python examples/as_a_node.py
"""

from typing import Any

from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command

from loopwright import build_graph, tool_policy
from loopwright.testing import ScriptedModel, call, reply

REFUNDS: list[str] = []


@tool
def refund(order: str, amount: float) -> str:
    """Refund an order. Use only when the customer asked for it; not for exchanges."""
    REFUNDS.append(f"{order}: {amount:g}")
    return f"refunded {amount:g} for {order}"


# Up to 100 the agent decides by itself. A scripted model stands in for a real one, so that this runs anywhere.
tools = [tool_policy(refund, effect="write", approval=lambda args: args["amount"] > 100)]
model = ScriptedModel([reply("", call("refund", order="A17", amount=250)), "Your refund of 200 is on its way."])
agent = build_graph(model, tools)


def greet(state: MessagesState) -> dict[str, Any]:
    """A step of the parent before the agent."""
    return {"messages": [HumanMessage(f"The customer says: {state['messages'][-1].text}")]}


def sign(state: MessagesState) -> dict[str, Any]:
    """A step of the parent after the agent."""
    return {"messages": [HumanMessage(f"{state['messages'][-1].text} Regards, the shop")]}


parent = (
    StateGraph(MessagesState)
    .add_node("greet", greet)
    .add_node("agent", agent)
    .add_node("sign", sign)
    .add_edge(START, "greet")
    .add_edge("greet", "agent")
    .add_edge("agent", "sign")
    .add_edge("sign", END)
    .compile(checkpointer=InMemorySaver(), store=InMemoryStore())  # the parent's: the agent's journal lives there too
)
config: Any = {"configurable": {"thread_id": "customer-1"}}

paused = parent.invoke({"messages": [HumanMessage("My order A17 never came, refund it.")]}, config, durability="sync")
(question,) = paused["__interrupt__"]
print("asked:", question.value["action_requests"][0])
print("done so far:", REFUNDS)

decision = {"type": "edit", "edited_action": {"name": "refund", "args": {"order": "A17", "amount": 200}}}
answer = {question.id: {"decisions": [decision]}}
result = parent.invoke(Command(resume=answer), config, durability="sync")
print(result["messages"][-1].text)
print("done:", REFUNDS)
