"""A write whose arguments were taken from text that came from outside: a person is asked, or the model is told."""

from dataclasses import dataclass

from loopwright.policies.finding import Finding, GuardView


@dataclass(frozen=True)
class UntrustedArguments:
    """Asks about a declared write that takes an address, path or amount from a file or page and from nowhere else.

    Where nobody can be asked, the call runs with a note. An undeclared tool is left alone: it may be a read. (A page
    that says "send the report to ..." is how agents are turned against their users.)
    """

    name: str = "untrusted_arguments"

    def __call__(self, view: GuardView) -> Finding | None:
        """Finds an ask, or a note, for a declared write with values that only untrusted results hold."""
        call = view.call
        if call is None or call.declared != "write" or not call.outside:
            return None
        names = ", ".join(call.outside)
        return Finding(
            "ask" if view.can_ask else "note",
            self.name,
            f"{names} of {call.tool} stands only in text from outside",
            call.id,
            facts={"tool": call.tool, "arguments": names},
        )
