"""The commands about the machine itself: graph, tools, presets, doctor, studio."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from loopwright_studio import options
from loopwright_studio.failures import SentenceCommand

machine = typer.Typer(rich_markup_mode=None)


@machine.command(cls=SentenceCommand)
def graph(
    picture: Annotated[
        Literal["mermaid", "svg", "ascii", "png"] | None,
        typer.Option("--format", "-f", help="mermaid, svg, ascii or png; else ascii in a terminal, mermaid elsewhere."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="The file; else stdout.")
    ] = None,
) -> None:
    """Draw the state machine."""
    from loopwright_studio.drawing import draw

    draw(picture, output)


@machine.command(cls=SentenceCommand)
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


@machine.command(cls=SentenceCommand)
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


@machine.command(cls=SentenceCommand)
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


@machine.command(cls=SentenceCommand)
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
