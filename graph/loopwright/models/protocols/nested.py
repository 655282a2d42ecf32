"""`json_nested`: a thought, an action with its arguments, and whether the task is finished, in one object."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from loopwright.models.protocols.form import FormName, dumped
from loopwright.models.protocols.text_tools import TextTools


@dataclass(frozen=True)
class Nested:
    """`{"thought", "action": {"name", "args"}, "finish", "final_answer"}`, in JSON mode where the server has it."""

    @property
    def name(self) -> FormName:
        """The name of the setting."""
        return "json_nested"

    def shape(self, tools: TextTools) -> str:
        """The two objects that a reply may be."""
        end = '{"thought": "why", "action": null, "finish": true, "final_answer": "the answer to the user"}'
        if not tools:
            return end
        return (
            'A call: {"thought": "why", "action": {"name": "the name of a tool", "args": an object with its arguments},'
            ' "finish": false, "final_answer": ""}\n'
            f"When everything that was asked is known, or no tool is needed: {end}"
        )

    def call(self, name: str, args: Mapping[str, Any], thought: str, tools: TextTools) -> str:  # noqa: ARG002 (Form's)
        """The call with its thought."""
        action = {"name": name, "args": dict(args)}
        return dumped({"thought": thought, "action": action, "finish": False, "final_answer": ""})

    def answer(self, text: str, tools: TextTools) -> str:  # noqa: ARG002 (Form's)
        """The finishing object."""
        return dumped({"thought": "", "action": None, "finish": True, "final_answer": text})

    def response_format(self, tools: TextTools, *, strict: bool) -> dict[str, Any] | None:  # noqa: ARG002 (Form's)
        """JSON mode."""
        return {"type": "json_object"}
