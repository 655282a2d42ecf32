"""The one message that stands for folded work: the summary, the ledger and the pins, marked as data."""

from langchain_core.messages import HumanMessage

from loopwright.memory.language import Language
from loopwright.memory.wording import WORDING
from loopwright.state import Fact, View

MEMORY_ID = "loopwright-memory"
"""Id of the memory block in a request; ids are not sent."""


def memory_block(view: View, language: Language) -> HumanMessage | None:
    """The view's summary, ledger and pins as one user-role message; None when there is nothing to say."""
    said = WORDING[language]
    parts = [said.memory]
    if view["summary"]:
        parts.append(f"{said.summary}\n{view['summary']}")
    if view["ledger"]:
        parts.append("\n".join([said.facts, *map(ledger_line, view["ledger"])]))
    if view["pins"]:
        parts.append("\n".join([said.pins, *(f"- {pin['text']}" for pin in view["pins"])]))
    return HumanMessage(content="\n\n".join(parts), id=MEMORY_ID) if len(parts) > 1 else None


def ledger_line(fact: Fact) -> str:
    """One fact as a line of the block."""
    return f"- {fact['tool']}: {fact['text']}"
