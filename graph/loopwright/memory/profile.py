"""What a model demands of a request beyond the protocol, and whose tokens are counted."""

from collections.abc import Callable
from dataclasses import dataclass

from langchain_core.messages import AIMessage, BaseMessage

from loopwright.memory.counting import count_message


@dataclass(frozen=True)
class Profile:
    """How requests to one model are rendered and counted."""

    model: str = ""
    """The model's name, for token counts; empty counts with the default table."""
    nudge_as_user: bool = False
    """Whether nudges and closing instructions come as a marked user message at the end, not in the system message."""
    alternate: bool = False
    """Whether user and assistant must strictly alternate: neighbours of one role are joined."""
    observation_characters: int | None = None
    """Characters of an earlier observation where steps are told as triples; None shows steps as messages."""
    rewriting: Callable[[AIMessage], int] | None = None
    """Tokens that an assistant message, with the frame of its results, takes more than it counts as it is: where a
    text protocol rewrites it."""

    def count(self, message: BaseMessage) -> int:
        """Tokens of this message in a request to the model."""
        tokens = count_message(message, self.model)
        return tokens + self.rewriting(message) if self.rewriting and isinstance(message, AIMessage) else tokens


PLAIN = Profile()
"""A model that demands nothing beyond the protocol."""
