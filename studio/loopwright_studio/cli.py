"""The command `loopwright`, put together from its groups of commands."""

import io
import sys

import typer

from loopwright_studio.look_commands import looking
from loopwright_studio.machine_commands import machine
from loopwright_studio.memory_commands import memory
from loopwright_studio.run_commands import running
from loopwright_studio.thread_commands import threads

app = typer.Typer(
    help="A tool-calling agent that you can see, stop, resume and trust.",
    epilog="Exit codes: 0 completed, 1 an error of ours, 2 usage, 3 stopped by a limit or the guard, 4 paused or "
    "interrupted, 5 model or provider failure. Settings: arguments, then LOOPWRIGHT_* variables, then loopwright.toml.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(running)
app.add_typer(looking)
app.add_typer(machine)
app.add_typer(threads, name="threads")
app.add_typer(memory, name="memory")


def main() -> None:
    """The console script."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a character the terminal lacks ends no run
    app()
