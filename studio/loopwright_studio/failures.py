"""Every error as one sentence on stderr and an exit code; a traceback only with LOOPWRIGHT_DEBUG=1."""

import os
import traceback
from typing import Any

import typer
from typer.core import TyperCommand

from loopwright.errors import LoopwrightError
from loopwright_studio.visible import one_line

UNEXPECTED = 1
"""Exit code of an error that is ours."""


class SentenceCommand(TyperCommand):
    """A command whose errors never reach a person as a traceback. Wrong options are typer's own, before this."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except LoopwrightError as error:
            _tell(str(error))
            raise typer.Exit(error.exit_code) from None
        except (typer.Exit, typer.Abort, BrokenPipeError):
            raise
        except Exception as error:
            _tell(
                f"Unexpected {type(error).__name__}: please report it, with what the same command prints under "
                "LOOPWRIGHT_DEBUG=1."
            )
            raise typer.Exit(UNEXPECTED) from None


def _tell(sentence: str) -> None:
    if os.environ.get("LOOPWRIGHT_DEBUG"):
        traceback.print_exc()
    from loopwright.language import language
    from loopwright_studio.terminal_wording import TerminalWording

    words = TerminalWording(language(sentence[:1]))  # an English one may name a Chinese thread
    typer.echo(words.error.format(text=one_line(sentence)), err=True)
