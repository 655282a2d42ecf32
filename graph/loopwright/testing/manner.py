"""How local servers write the replies of their models where they differ from OpenAI's."""

import json
from dataclasses import dataclass, replace
from typing import Literal

from loopwright.testing.wire import Written


@dataclass(frozen=True)
class Manner:
    """The habits of one server; the defaults are OpenAI's."""

    null_content: bool = False
    """Whether `content` is null, not an empty text, in a reply that says nothing beside its calls."""
    parallel_calls: bool = True
    """Whether a reply may hold several calls; of more than one the first alone is sent."""
    call_ids: Literal["own", "missing", "repeated"] = "own"
    """Whether each call has an id of its own, none, or the same as every other."""
    calls_as_text: bool = False
    """Whether calls come as JSON in the text, as from a server that does not know its model's template."""

    def applied(self, said: Written) -> Written:
        """The reply as this server sends it."""
        calls = said.calls if self.parallel_calls else said.calls[:1]
        if self.call_ids != "own":
            calls = [replace(c, id="call_0" if self.call_ids == "repeated" else None) for c in calls]
        if self.calls_as_text and calls:
            lines = [json.dumps({"name": c.name, "arguments": json.loads(c.arguments or "{}")}) for c in calls]
            return replace(said, text="\n".join([*filter(None, [said.text]), *lines]), calls=[], finish_reason="stop")
        text = None if self.null_content and calls and not said.text else said.text
        return replace(said, text=text, calls=calls)
