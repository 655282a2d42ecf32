"""What stands for folded work: one message of summary, ledger and notes, marked as data; the user's pins before it."""

from langchain_core.messages import HumanMessage

from loopwright.language import Language
from loopwright.memory.wording import WORDING
from loopwright.shapes import Fact, View

MEMORY_ID = "loopwright-memory"
PINS_ID = "loopwright-pins"
"""Ids of the memory block and of the user's pins in a request; ids are not sent."""


def memory_messages(view: View, language: Language) -> list[HumanMessage]:
    """The user's pins and the memory block as user-role messages; only those that have something to say."""
    pins = [pin["text"] for pin in view["pins"] if pin["by"] == "user"]
    said = "\n".join([WORDING[language].pins, *(f"- {text}" for text in pins)])
    block = _block(view, language)
    return [*([HumanMessage(content=said, id=PINS_ID)] if pins else []), *([block] if block else [])]


def _block(view: View, language: Language) -> HumanMessage | None:
    """Summary, ledger and what the model noted: text from tools and models, which gains no authority here."""
    said = WORDING[language]
    parts = [said.memory]
    if view["summary"]:
        parts.append(f"{said.summary}\n{view['summary']}")
    if view["ledger"]:
        parts.append("\n".join([said.facts, *map(ledger_line, view["ledger"])]))
    if notes := [pin["text"] for pin in view["pins"] if pin["by"] == "model"]:
        parts.append("\n".join([said.noted, *(f"- {text}" for text in notes)]))
    return HumanMessage(content="\n\n".join(parts), id=MEMORY_ID) if len(parts) > 1 else None


def ledger_line(fact: Fact) -> str:
    """One fact as a line of the block."""
    return f"- {fact['tool']}: {fact['text']}"
