"""The commands that run something: run, resume, fork."""

from typing import Annotated

import typer

from loopwright_studio import options
from loopwright_studio.failures import SentenceCommand
from loopwright_studio.options import ReasonCommand

running = typer.Typer(rich_markup_mode=None)


@running.command(cls=SentenceCommand)
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
    session = open_session(arguments, quiet=quiet, as_json=as_json, thread=thread, task=words)
    run_asking(session, session.agent.stream(words, thread=thread, user=session.user))


@running.command(cls=ReasonCommand)
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


@running.command(cls=SentenceCommand)
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
    session = open_session(arguments, quiet=quiet, as_json=as_json, thread=thread, task=edit)
    session.agent.fork(thread, checkpoint, edit=edit, repeat_effects=repeat_effects, into=into)
    resume_thread(session, into or thread)
