"""The seven nodes, one file and one function each."""

from loopwright.nodes.ask import ask
from loopwright.nodes.begin import begin
from loopwright.nodes.call_model import call_model
from loopwright.nodes.compress_memory import compress_memory
from loopwright.nodes.execute_tools import execute_tools
from loopwright.nodes.finish import finish
from loopwright.nodes.guard import guard
from loopwright.nodes.wiring import Wiring

__all__ = [
    "Wiring",
    "ask",
    "begin",
    "call_model",
    "compress_memory",
    "execute_tools",
    "finish",
    "guard",
]
