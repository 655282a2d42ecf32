"""The shortest agent: a model, two tools, a question.

    uv run python examples/hello.py

Runs without a key on the offline model; pass a model's name to use another: `hello.py openai:gpt-4o-mini`.
"""

import sys

from loopwright import Agent
from loopwright_tools import default_tools

model = sys.argv[1] if len(sys.argv) > 1 else "offline:demo"
agent = Agent(model, tools=default_tools("examples/workspace"))
result = agent.run("What is 15 % of 2480, and what time is it in Shanghai?")
print(result.answer)
print(result.usage, result.stop and result.stop["reason"])
