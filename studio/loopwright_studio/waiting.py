"""What a run waits for, and the commands that answer it."""

from collections.abc import Sequence
from datetime import datetime

from loopwright.pending import Pending
from loopwright_studio.call_line import is_cut, spelled_out
from loopwright_studio.command_lines import command
from loopwright_studio.console import Screen
from loopwright_studio.terminal_wording import TerminalWording
from loopwright_studio.visible import visible


def print_waiting(screen: Screen, pending: Sequence[Pending], storage: str | None, again: tuple[str, ...] = ()) -> None:
    """The open questions, and the commands that answer them; an id is named only where several of a thread are open."""
    words = screen.words
    for question in pending:
        several = sum(each.thread == question.thread for each in pending) > 1
        kind = words.named("waiting", question.kind)
        screen.say(words.waiting.format(kind=kind, question=visible(question.description)), "bold yellow")
        screen.say(spelled_out(question.call, words=words))
        if is_cut(question.call):
            screen.say(f"  {words.all_of_it}")
        if question.expires_at is not None:
            at = f"{datetime.fromtimestamp(question.expires_at):%Y-%m-%d %H:%M:%S}"
            screen.say(f"  {words.expires.format(at=at)}")
        named = ("--question", question.id) if several else ()
        for given, meaning in _answers(words)[question.kind]:
            line = command("resume", question.thread, storage, *given, *named, again=again)
            screen.commands(f"{line}  # {meaning}" if meaning else line)


def _answers(words: TerminalWording) -> dict[str, list[tuple[tuple[str, ...], str]]]:
    """Options that answer a kind of question, with what they mean where that is not plain."""
    approve, reject = ("--approve",), ("--reject", words.reason_word)
    edit = ("--edit", f'{{"{words.name_word}": {words.value_word}}}')
    return {
        "approval": [
            (approve, ""),
            (reject, ""),
            (edit, words.means_edit),
            (("--answer", words.text_word), words.means_instead),
        ],
        "budget": [(approve, ""), (reject, ""), (("--extend", words.limit_word), "")],
        "unknown": [
            (approve, words.happened_yes),
            (reject, words.happened_no),
            (("--answer", words.result_word), words.means_result),
            (("--answer", ""), words.happened_unknown),
        ],
    }
