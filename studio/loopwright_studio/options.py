"""The options that several commands share, and how they become arguments of the configuration."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from loopwright.errors import UsageError

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
