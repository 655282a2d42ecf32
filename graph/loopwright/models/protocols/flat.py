"""`json_flat` and `json_schema`: an action and its input side by side; the latter has the server enforce it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from loopwright.models.protocols.choice import choice_format
from loopwright.models.protocols.form import FormName, dumped
from loopwright.models.protocols.text_tools import INPUT, TextTools

_ENDINGS = ("final", "final_answer", "finish", "answer")


@dataclass(frozen=True)
class Flat:
    """`{"action": NAME, "action_input": text or object}`; the action `final` ends, with the answer as its input."""

    enforced: bool = False
    """Whether the schema of the choice among the tools is sent; an input is always an object then."""

    @property
    def name(self) -> FormName:
        """The name of the setting."""
        return "json_schema" if self.enforced else "json_flat"

    def shape(self, tools: TextTools) -> str:
        """The two objects that a reply may be."""
        end = f'{{"action": "{ending(tools)}", "{INPUT}": "the answer to the user"}}'
        if not tools:
            return end
        takes = "an object with its arguments"
        if not self.enforced:
            takes += ", or the text alone if it takes one text"
        return (
            f'A call: {{"action": "the name of a tool", "{INPUT}": {takes}}}\n'
            f"When everything that was asked is known, or no tool is needed: {end}"
        )

    def call(self, name: str, args: Mapping[str, Any], thought: str, tools: TextTools) -> str:  # noqa: ARG002 (Form's)
        """The call; a thought has no place in this form and is left out."""
        given = dict(args) if self.enforced or name not in tools else tools[name].as_input(args)
        return dumped({"action": name, INPUT: given})

    def answer(self, text: str, tools: TextTools) -> str:
        """The final action."""
        return dumped({"action": ending(tools), INPUT: text})

    def response_format(self, tools: TextTools, *, strict: bool) -> dict[str, Any] | None:
        """The schema of the choice, for `json_schema`."""
        return choice_format(tools, ending(tools), strict=strict) if self.enforced else None


def ending(tools: TextTools) -> str:
    """The action that ends: `final`, or another word where a tool is called so."""
    return next((word for word in _ENDINGS if word not in tools), "end_of_task")
