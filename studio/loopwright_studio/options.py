"""The options that several commands share, and how they become arguments of the configuration."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from loopwright.errors import UsageError
from loopwright_studio.failures import SentenceCommand

ModelOption: TypeAlias = Annotated[
    str | None, typer.Option("--model", metavar="NAME", help="openai:NAME, offline:demo or offline:looper.")
]
BaseUrlOption: TypeAlias = Annotated[
    str | None, typer.Option("--base-url", metavar="URL", help="Base URL of an OpenAI-compatible server.")
]
StorageOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--storage", metavar="URL", help="Where threads are kept; without it sqlite:///runs.db in this folder."
    ),
]
WorkspaceOption: TypeAlias = Annotated[
    Path | None, typer.Option("--workspace", metavar="DIR", help="The folder that tools may read; else this one.")
]
UserOption: TypeAlias = Annotated[
    str | None, typer.Option("--user", metavar="ID", help="Whose long-term memory is used, where that is on.")
]
ModelCallsOption: TypeAlias = Annotated[
    int | None, typer.Option("--max-model-calls", min=1, help="Model calls of a run.")
]
ToolCallsOption: TypeAlias = Annotated[int | None, typer.Option("--max-tool-calls", min=1, help="Tool calls of a run.")]
TokensOption: TypeAlias = Annotated[
    int | None, typer.Option("--max-tokens", min=1, help="Tokens of a run, requests and replies together.")
]
SecondsOption: TypeAlias = Annotated[
    float | None, typer.Option("--max-seconds", min=0.001, help="Working seconds of a run; waiting for you is free.")
]
ContextOption: TypeAlias = Annotated[
    int | None, typer.Option("--context-tokens", min=1, help="Tokens a request may have, the reply not counted.")
]
PresetOption: TypeAlias = Annotated[
    str | None, typer.Option("--preset", metavar="NAME", help="A published loop's settings; `presets` lists them.")
]
PromptOption: TypeAlias = Annotated[
    str | None, typer.Option("--system-prompt", metavar="TEXT", help="Replaces the system prompt.")
]
QuietOption: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="Print no steps, only the answer.")]
EventsOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--json",
        help="Print on stdout one event a line as JSON instead of the answer; "
        'the last line is {"kind": "result", ...}.',
    ),
]
JsonOption: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON.")]
ExtendOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--extend", metavar="NAME=N,...", help="New limits, for instance model_calls=70,tokens=500000."),
]


ApproveOption: TypeAlias = Annotated[
    bool, typer.Option("--approve", help="Yes to what it waits for (of an unknown outcome: it happened).")
]
RejectOption: TypeAlias = Annotated[
    str | None, typer.Option("--reject", metavar="[REASON]", help="No; the model is told why.")
]
EditOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--edit", metavar="JSON", help="Yes, with these arguments; those not named stay as they are."),
]
AnswerOption: TypeAlias = Annotated[
    str | None, typer.Option("--answer", metavar="TEXT", help="The result that the call gets instead of being run.")
]
QuestionOption: TypeAlias = Annotated[
    str | None, typer.Option("--question", metavar="ID", help="What is answered, or all; needed where several wait.")
]
RepeatOption: TypeAlias = Annotated[
    bool, typer.Option("--repeat-effects", help="Let it do again what it did or began before; else that is served.")
]


class ReasonCommand(SentenceCommand):
    """A command whose `--reject` may stand without a reason."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words of the command line."""
        return super().parse_args(ctx, with_reason(args))


def with_reason(words: Sequence[str]) -> list[str]:
    """The words with an empty reason behind a `--reject` that is the last one, or followed by another option."""
    following = [*words[1:], "--"]
    pairs = zip(words, following, strict=False)
    return [each for word, after in pairs for each in ([word, ""] if _is_bare(word, after) else [word])]


def _is_bare(word: str, after: str) -> bool:
    return word == "--reject" and after.startswith("-")


def read_limits(text: str | None) -> dict[str, float] | None:
    """Limits written as `name=number,...`. Raises UsageError; whether a name exists is the run's to say."""
    if text is None:
        return None
    limits: dict[str, float] = {}
    for part in text.split(","):
        name, _, number = part.partition("=")
        try:
            limits[name.strip()] = float(number)
        except ValueError:
            raise UsageError(
                f"--extend cannot be read at {part.strip()!r}: write NAME=NUMBER, as in model_calls=70,tokens=500000."
            ) from None
    return limits
