"""What a model demands of a request beyond the protocol, and whose tokens are counted."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Profile:
    """How requests to one model are rendered and counted."""

    model: str = ""
    """The model's name, for token counts; empty counts with the default table."""
    nudge_as_user: bool = False
    """Whether nudges and closing instructions come as a marked user message at the end, not in the system message."""
    alternate: bool = False
    """Whether user and assistant must strictly alternate: neighbours of one role are joined."""


PLAIN = Profile()
"""A model that demands nothing beyond the protocol."""
