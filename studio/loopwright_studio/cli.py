"""The command `loopwright`: run, resume, show, threads, graph, tools, doctor."""

import io
import sys
from typing import Annotated, Any

import typer

from loopwright_studio import options
from loopwright_studio.failures import SentenceCommand

app = typer.Typer(
    help="A tool-calling agent that you can see, stop, resume and trust.",
    epilog="Exit codes: 0 completed, 1 an error of ours, 2 usage, 3 stopped by a limit or the guard, 4 paused, "
    "5 model or provider failure. Settings: arguments, then LOOPWRIGHT_* variables, then loopwright.toml.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
threads = typer.Typer(help="The threads of a storage.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(threads, name="threads")


def main() -> None:
    """The console script."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a character the terminal lacks ends no run
    app()


@app.command(cls=SentenceCommand)
def run(
    task: Annotated[str, typer.Argument(help="What is to be done; - reads it from stdin.")],
    model: options.ModelOption = None,
    base_url: options.BaseUrlOption = None,
    thread: Annotated[str | None, typer.Option(help="The thread to begin or to go on with; else a new one.")] = None,
    storage: options.StorageOption = None,
    workspace: options.WorkspaceOption = None,
    max_model_calls: options.ModelCallsOption = None,
    max_tool_calls: options.ToolCallsOption = None,
    max_tokens: options.TokensOption = None,
    max_seconds: options.SecondsOption = None,
    context_tokens: options.ContextOption = None,
    system_prompt: options.PromptOption = None,
    quiet: options.QuietOption = False,
    as_json: options.EventsOption = False,
) -> None:
    """Run a task: steps on stderr as they happen, the answer alone on stdout."""
    arguments = {
        "model": model, "base_url": base_url, "storage": storage, "workspace": workspace,
        "max_model_calls": max_model_calls, "max_tool_calls": max_tool_calls, "max_tokens": max_tokens,
        "max_seconds": max_seconds, "context_tokens": context_tokens, "system_prompt": system_prompt,
    }  # fmt: skip
    from loopwright_studio.running import open_session, read_task

    words = read_task(task)
    session = open_session(arguments, quiet=quiet, as_json=as_json)
    session.conclude(session.follow(session.agent.stream(words, thread=thread)))


@app.command(cls=SentenceCommand)
def resume(
    thread: Annotated[str, typer.Argument(help="The thread to go on with.")],
    extend: options.ExtendOption = None,
    approve: Annotated[
        list[str] | None, typer.Option(metavar="ID|all", help="Approve a question; may be given again.")
    ] = None,
    reject: Annotated[
        list[str] | None, typer.Option(metavar="ID=REASON", help="Reject one; the model is told why.")
    ] = None,
    model: options.ModelOption = None,
    base_url: options.BaseUrlOption = None,
    storage: options.StorageOption = None,
    workspace: options.WorkspaceOption = None,
    quiet: options.QuietOption = False,
    as_json: options.EventsOption = False,
) -> None:
    """Go on with a thread: after a crash, with answers to its questions, or under larger limits."""
    from loopwright_studio.resuming import resume_thread
    from loopwright_studio.running import open_session

    limits = options.read_limits(extend)
    arguments = {"model": model, "base_url": base_url, "storage": storage, "workspace": workspace}
    session = open_session(arguments, quiet=quiet, as_json=as_json, thread=thread)
    resume_thread(session, thread, limits, approve or [], reject or [])


@app.command(cls=SentenceCommand)
def show(
    thread: Annotated[str, typer.Argument(help="The thread to look at.")],
    storage: options.StorageOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Show what happened on a thread: every step, decision and call, sums, the stop, and what waits."""
    from loopwright_studio.agents import reading_agent
    from loopwright_studio.configuration import load_settings

    configuration, _ = load_settings({"storage": storage})
    report = reading_agent(configuration.storage).report(thread)
    if as_json:
        from loopwright_studio.visible import json_line

        typer.echo(json_line(report.model_dump(mode="json")))
        return
    from loopwright_studio.console import Screen
    from loopwright_studio.showing import show_report

    show_report(Screen(), report, storage)


@threads.command("list", cls=SentenceCommand)
def list_threads(storage: options.StorageOption = None, as_json: options.JsonOption = False) -> None:
    """List the threads, the newest first."""
    from loopwright_studio.configuration import load_settings
    from loopwright_studio.console import Screen
    from loopwright_studio.thread_list import print_threads, stored_threads, thread_data
    from loopwright_studio.visible import json_line

    configuration, _ = load_settings({"storage": storage})
    found = stored_threads(configuration.storage)
    if as_json:
        typer.echo(json_line([thread_data(info) for info in found]))
        return
    print_threads(Screen(), found)


@app.command(cls=SentenceCommand)
def graph() -> None:
    """Print the state machine as mermaid text."""
    from loopwright import build_graph
    from loopwright_studio.configuration import OFFLINE

    typer.echo(build_graph(OFFLINE).get_graph().draw_mermaid())


@app.command(cls=SentenceCommand)
def tools(workspace: options.WorkspaceOption = None) -> None:
    """List the tools: name, effect, timeout, arguments."""
    from loopwright_studio.agents import tools_of
    from loopwright_studio.configuration import load_settings
    from loopwright_studio.console import Screen
    from loopwright_studio.tool_list import print_tools, undeclared

    configuration, settings = load_settings({"workspace": workspace})
    found = tools_of(configuration)
    print_tools(Screen(), found, settings.tools)
    warning = undeclared(found)
    if warning:
        typer.echo(warning, err=True)


@app.command(cls=SentenceCommand)
def doctor(
    check: Annotated[bool, typer.Option("--check", help="Make one short request to the model.")] = False,
    model: options.ModelOption = None,
    base_url: options.BaseUrlOption = None,
    storage: options.StorageOption = None,
    workspace: options.WorkspaceOption = None,
) -> None:
    """Say what is configured and from where, what works and what is missing. Makes no request without --check."""
    from loopwright_studio.doctor import examine

    arguments: dict[str, Any] = {"model": model, "base_url": base_url, "storage": storage, "workspace": workspace}
    raise typer.Exit(examine(arguments, check=check))
