"""From a configuration to an agent, and what has to be said about the model when none was named."""

import os
import socket
from pathlib import Path
from urllib.parse import urlsplit

from langchain_core.tools import BaseTool

from loopwright import Agent, Settings
from loopwright.errors import ModelFailure, SettingsError, UnknownThread
from loopwright.models import load_model
from loopwright.storage import SqlitePlace, place_of
from loopwright_studio.configuration import OFFLINE, Configuration
from loopwright_studio.terminal_wording import ENGLISH, TerminalWording
from loopwright_tools import default_tools


def build_agent(configuration: Configuration, settings: Settings) -> Agent:
    """The agent that is configured; writes nothing. Raises UnknownModel, ModelFailure, SettingsError, StorageError."""
    tools = tools_of(configuration)
    model = load_model(
        configuration.model or OFFLINE,
        base_url=configuration.base_url,
        api_key=configuration.api_key,
        settings=settings.model,
    )
    return Agent(model, tools, settings=settings, storage=configuration.storage)


def check_endpoint(configuration: Configuration) -> None:
    """Raises ModelFailure when the model's server is to run on this machine and nothing listens there.

    So a server that was not started is told at once and leaves no thread behind. Other hosts may be behind a proxy:
    the run itself finds out.
    """
    url = urlsplit(configuration.base_url or "")
    if url.hostname not in ("127.0.0.1", "localhost", "::1"):
        return
    try:
        port = url.port or (443 if url.scheme == "https" else 80)
        with socket.create_connection((url.hostname, port), timeout=3):
            pass
    except (OSError, ValueError) as error:
        raise ModelFailure(
            f"No model server answers at {configuration.base_url}: start it, or name another with --base-url."
        ) from error


def tools_of(configuration: Configuration) -> list[BaseTool]:
    """The shipped tools on the configured workspace. Raises SettingsError when that is no folder."""
    workspace = workspace_of(configuration)
    if not workspace.is_dir():
        raise SettingsError(f"The workspace {workspace} is not a folder: create it, or name another with --workspace.")
    place = place_of(configuration.storage)
    return default_tools(workspace, hidden=place.files if isinstance(place, SqlitePlace) else ())


def workspace_of(configuration: Configuration) -> Path:
    """The folder that tools may read, with `~` as the home folder."""
    return Path(os.path.expanduser(configuration.workspace))  # pathlib's own raises where nobody has that name


def reading_agent(storage: str) -> Agent:
    """An agent that only reads threads: it needs no model. Raises StorageError, and UnknownThread where no file is."""
    return Agent(OFFLINE, storage=existing(storage))


def existing(storage: str) -> str:
    """The storage, if it is there: none is created. Raises StorageError, and UnknownThread where there is none."""
    place = place_of(storage)
    if not place.exists():
        raise UnknownThread(f"There are no threads in {place.url}: name where they are kept with --storage.")
    return storage


def model_note(configuration: Configuration, words: TerminalWording = ENGLISH) -> str | None:
    """What a person has to know when no model was named: that no language model answers, and how to name one."""
    if configuration.model is not None:
        return None
    found, how = (words.key_alone, words.name_one) if configuration.api_key else (words.no_model, words.set_key)
    return words.no_model_answers.format(found=found, model=OFFLINE, how=how.format(named=words.ways_to_name))
