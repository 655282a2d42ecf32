"""What a run waits for, and the commands that answer it."""

from collections.abc import Sequence
from datetime import datetime

from loopwright.pending import Pending
from loopwright_studio.call_line import is_cut, spelled_out
from loopwright_studio.command_lines import command
from loopwright_studio.console import Screen
from loopwright_studio.visible import visible


def print_waiting(screen: Screen, pending: Sequence[Pending], storage: str | None, again: tuple[str, ...] = ()) -> None:
    """The open questions, and the commands that answer them; an id is named only where several of a thread are open."""
    for question in pending:
        several = sum(each.thread == question.thread for each in pending) > 1
        screen.say(f"Waiting for you ({question.kind}): {visible(question.description)}", "bold yellow")
        screen.say(spelled_out(question.call))
        if is_cut(question.call):
            screen.say("  All of it: `loopwright threads list --waiting --json`, or [v]iew where `resume` asks.")
        if question.expires_at is not None:
            screen.say(f"  counts as rejected from {datetime.fromtimestamp(question.expires_at):%Y-%m-%d %H:%M:%S} on")
        named = ("--question", question.id) if several else ()
        for words, meaning in _ANSWERS[question.kind]:
            line = command("resume", question.thread, storage, *words, *named, again=again)
            screen.commands(f"{line}{meaning}")


_ANSWERS: dict[str, list[tuple[tuple[str, ...], str]]] = {
    "approval": [
        (("--approve",), ""),
        (("--reject", "REASON"), ""),
        (("--edit", '{"NAME": VALUE}'), "  # run it with other arguments"),
        (("--answer", "TEXT"), "  # answer in its stead"),
    ],
    "budget": [(("--approve",), ""), (("--reject", "REASON"), ""), (("--extend", "NAME=N"), "")],
    "unknown": [
        (("--approve",), "  # it happened"),
        (("--reject", "REASON"), "  # it did not happen"),
        (("--answer", "RESULT"), "  # it happened, and this is its result"),
        (("--answer", ""), "  # nobody knows"),
    ],
}
"""Options that answer a kind of question, with what they mean where that is not plain."""
