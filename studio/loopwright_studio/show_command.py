"""What `show` does: a thread's report, one of its rounds, its next request, or a run while another process makes it."""

import typer

from loopwright.errors import UsageError
from loopwright_studio.configuration import load_settings
from loopwright_studio.console import Screen
from loopwright_studio.stored import stored_report
from loopwright_studio.terminal_wording import spoken_of
from loopwright_studio.visible import json_line


def show_thread(
    storage: str | None,
    thread: str,
    *,
    everything: bool = False,
    number: int | None = None,
    follow: bool = False,
    request: bool = False,
    as_json: bool = False,
) -> None:
    """Print what was asked for. Raises UnknownThread, StorageError, and UsageError for options that exclude another."""
    if (number is not None) + follow + request > 1 or (follow and as_json):
        raise UsageError("--round, --follow and --request show different things (and --follow no JSON): give one.")
    configuration, settings = load_settings({"storage": storage})
    if request:
        from loopwright_studio.agents import build_agent, existing
        from loopwright_studio.request_view import request_data, show_request

        existing(configuration.storage)
        preview = build_agent(configuration, settings).preview(thread)
        if as_json:
            return typer.echo(json_line(request_data(preview)))
        return show_request(Screen(spoken_of(stored_report(configuration, thread))), preview)
    if number is not None:
        from loopwright_studio.round_view import WHOLE, find_round, show_round

        report = stored_report(configuration, thread, WHOLE)
        run, turn = find_round(report, number)
        if as_json:
            return typer.echo(json_line(turn.model_dump(mode="json")))
        return show_round(Screen(spoken_of(report)), run, turn)
    if follow:
        from loopwright_studio.following import follow as follow_run

        return follow_run(
            Screen(spoken_of(stored_report(configuration, thread))),
            lambda: stored_report(configuration, thread),
            storage,
        )
    report = stored_report(configuration, thread)
    if as_json:
        return typer.echo(json_line(report.model_dump(mode="json")))
    from loopwright_studio.showing import show_report

    return show_report(Screen(spoken_of(report)), report, storage, everything=everything)
