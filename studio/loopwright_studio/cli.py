"""The command `loopwright`: one function a command, and its groups `threads` and `memory`."""

import io
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from loopwright_studio import options
from loopwright_studio.failures import SentenceCommand
from loopwright_studio.memory_commands import memory
from loopwright_studio.options import ReasonCommand
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
app.add_typer(threads, name="threads")
app.add_typer(memory, name="memory")


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
    user: options.UserOption = None,
    preset: options.PresetOption = None,
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
        "model": model, "base_url": base_url, "storage": storage, "workspace": workspace, "user": user,
        "preset": preset, "max_model_calls": max_model_calls, "max_tool_calls": max_tool_calls,
        "max_tokens": max_tokens, "max_seconds": max_seconds, "context_tokens": context_tokens,
        "system_prompt": system_prompt,
    }  # fmt: skip
    from loopwright_studio.resuming import run_asking
    from loopwright_studio.running import open_session, read_task

    words = read_task(task)
    session = open_session(arguments, quiet=quiet, as_json=as_json)
    run_asking(session, session.agent.stream(words, thread=thread, user=session.user))


@app.command(cls=ReasonCommand)
def resume(
    thread: Annotated[str, typer.Argument(help="The thread to go on with.")],
    approve: options.ApproveOption = False,
    reject: options.RejectOption = None,
    edit: options.EditOption = None,
    answer: options.AnswerOption = None,
    question: options.QuestionOption = None,
    extend: options.ExtendOption = None,
    repeat_effects: options.RepeatOption = False,
    preset: options.PresetOption = None,
    model: options.ModelOption = None,
    base_url: options.BaseUrlOption = None,
    storage: options.StorageOption = None,
    workspace: options.WorkspaceOption = None,
    user: options.UserOption = None,
    quiet: options.QuietOption = False,
    as_json: options.EventsOption = False,
) -> None:
    """Go on with a thread: after a crash, with an answer to what it waits for, or under larger limits."""
    from loopwright_studio.deciding import Answer
    from loopwright_studio.resuming import resume_thread
    from loopwright_studio.running import open_session

    limits = options.read_limits(extend)
    given = Answer(approve, reject, edit, answer, question)
    arguments = {
        "model": model, "base_url": base_url, "storage": storage, "workspace": workspace, "user": user,
        "preset": preset,
    }  # fmt: skip
    session = open_session(arguments, quiet=quiet, as_json=as_json, thread=thread)
    resume_thread(session, thread, limits, given, repeat_effects=repeat_effects)


@app.command(cls=SentenceCommand)
def fork(
    thread: Annotated[str, typer.Argument(help="The thread to go back in.")],
    checkpoint: Annotated[str, typer.Argument(help="The checkpoint to go on from, as `history` names it.")],
    edit: Annotated[str | None, typer.Option(metavar="TEXT", help="A text in place of the task.")] = None,
    into: Annotated[str | None, typer.Option(metavar="THREAD", help="Go on in this new thread instead.")] = None,
    repeat_effects: options.RepeatOption = False,
    preset: options.PresetOption = None,
    model: options.ModelOption = None,
    base_url: options.BaseUrlOption = None,
    storage: options.StorageOption = None,
    workspace: options.WorkspaceOption = None,
    user: options.UserOption = None,
    quiet: options.QuietOption = False,
    as_json: options.EventsOption = False,
) -> None:
    """Go on from an old checkpoint; what was done on the way that is left is not done again."""
    from loopwright_studio.resuming import resume_thread
    from loopwright_studio.running import open_session

    arguments = {
        "model": model, "base_url": base_url, "storage": storage, "workspace": workspace, "user": user,
        "preset": preset,
    }  # fmt: skip
    session = open_session(arguments, quiet=quiet, as_json=as_json, thread=thread)
    session.agent.fork(thread, checkpoint, edit=edit, repeat_effects=repeat_effects, into=into)
    resume_thread(session, into or thread)


@app.command(cls=SentenceCommand)
def show(
    thread: Annotated[str, typer.Argument(help="The thread to look at.")],
    everything: Annotated[bool, typer.Option("--all", help="Print every round, also those that went well.")] = False,
    number: Annotated[int | None, typer.Option("--round", metavar="N", min=1, help="Print this round, whole.")] = None,
    follow: Annotated[bool, typer.Option("--follow", help="Print the rounds of a running thread as they end.")] = False,
    request: Annotated[bool, typer.Option("--request", help="Print the request that comes next, whole.")] = False,
    storage: options.StorageOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Show what happened on a thread: what did not go well, the rest folded; sums, the stop, and what waits."""
    from loopwright_studio.show_command import show_thread

    show_thread(storage, thread, everything=everything, number=number, follow=follow, request=request, as_json=as_json)


@app.command(cls=SentenceCommand)
def history(
    thread: Annotated[str, typer.Argument(help="The thread to look back on.")],
    storage: options.StorageOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """List the checkpoints of a thread, the newest last: `fork` goes on from each of them."""
    from loopwright_studio.agents import reading_agent
    from loopwright_studio.configuration import load_settings
    from loopwright_studio.console import Screen
    from loopwright_studio.history_list import history_data, print_history
    from loopwright_studio.visible import json_line

    configuration, _ = load_settings({"storage": storage})
    entries = reading_agent(configuration.storage).history(thread)
    if as_json:
        typer.echo(json_line([history_data(each) for each in entries]))
    else:
        print_history(Screen(), entries)


@app.command(cls=SentenceCommand)
def effects(
    thread: Annotated[str, typer.Argument(help="The thread whose writes are listed.")],
    storage: options.StorageOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """List what a thread did to the world: first what was started and has no known outcome."""
    from loopwright_studio.agents import reading_agent
    from loopwright_studio.configuration import load_settings
    from loopwright_studio.console import Screen
    from loopwright_studio.effect_list import journal_of, print_effects
    from loopwright_studio.visible import json_line

    configuration, _ = load_settings({"storage": storage})
    found = journal_of(configuration.storage, reading_agent(configuration.storage).report(thread))
    if as_json:
        typer.echo(json_line(found))
    else:
        print_effects(Screen(), found)


@app.command(cls=SentenceCommand)
def report(
    thread: Annotated[str, typer.Argument(help="The thread to write the page of.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="The file; else THREAD.html; - is stdout.")
    ] = None,
    show: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    storage: options.StorageOption = None,
) -> None:
    """Write what happened on a thread as one HTML page: which step got stuck, why, and what to do."""
    from loopwright_studio.reporting import write_page

    write_page(storage, thread, output, show=show)


@app.command(cls=SentenceCommand)
def graph(
    picture: Annotated[
        Literal["mermaid", "svg", "ascii", "png"], typer.Option("--format", "-f", help="mermaid, svg, ascii or png.")
    ] = "mermaid",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="The file; else stdout.")
    ] = None,
) -> None:
    """Draw the state machine."""
    from loopwright_studio.drawing import draw

    draw(picture, output)


@app.command(cls=SentenceCommand)
def tools(workspace: options.WorkspaceOption = None) -> None:
    """List the tools: name, effect, timeout, arguments."""
    from loopwright_studio.agents import tools_of
    from loopwright_studio.configuration import load_settings
    from loopwright_studio.console import Screen
    from loopwright_studio.tool_list import print_tools, warnings

    configuration, settings = load_settings({"workspace": workspace})
    found = tools_of(configuration)
    print_tools(Screen(), found, settings.tools)
    for warning in warnings(found):
        typer.echo(warning, err=True)


@app.command(cls=SentenceCommand)
def presets(
    name: Annotated[str | None, typer.Argument(help="One preset, with its system prompts; else all.")] = None,
    as_json: options.JsonOption = False,
) -> None:
    """List the presets: every number that makes a published loop, and the default it replaces."""
    from loopwright_studio.console import Screen
    from loopwright_studio.preset_list import chosen, presets_data, print_presets
    from loopwright_studio.visible import json_line

    found = chosen(name)
    if as_json:
        typer.echo(json_line(presets_data(found)))
    else:
        print_presets(Screen(), found)


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


@app.command(cls=SentenceCommand)
def studio(
    port: Annotated[int, typer.Option(min=1, max=65_535, help="The port on 127.0.0.1.")] = 2024,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open LangGraph Studio's page.")] = True,
    reload: Annotated[bool, typer.Option("--reload/--no-reload", help="Load changed code anew.")] = True,
    model: options.ModelOption = None,
    base_url: options.BaseUrlOption = None,
    storage: options.StorageOption = None,
    workspace: options.WorkspaceOption = None,
) -> None:
    """Start LangGraph's development server with this agent, for LangGraph Studio and for its SDK."""
    from loopwright_studio.serving import serve

    arguments = {"model": model, "base_url": base_url, "storage": storage, "workspace": workspace}
    serve(arguments, port=port, browser=browser, reload=reload)
