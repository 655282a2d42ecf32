"""What is configured and from where, what works, and what is missing; never a secret."""

import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal
from urllib.parse import urlsplit

from langchain_core.tools import BaseTool
from pydantic import BaseModel, SecretStr

from loopwright import Settings
from loopwright.errors import LoopwrightError
from loopwright.models import load_model
from loopwright.models.failures import model_failure
from loopwright.storage import MemoryPlace, SqlitePlace, open_storage, place_of
from loopwright_studio.agents import model_note, tools_of, workspace_of
from loopwright_studio.calibrated import counting
from loopwright_studio.configuration import OFFLINE, Configuration, layers_of, settle
from loopwright_studio.console import Screen
from loopwright_studio.sources import PREFIX, SEPARATOR, Layer, origin
from loopwright_studio.tool_list import warnings
from loopwright_studio.visible import visible

PACKAGES = ("loopwright", "langgraph", "langgraph-checkpoint-sqlite", "langchain-core", "langchain-openai", "pydantic")
OWN_VARIABLES = ("LOOPWRIGHT_DEBUG", "LOOPWRIGHT_CACHE_DIR")
"""Variables that are read elsewhere than by the configuration."""


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at: fine (done), worth knowing (note), or in the way of a run (error)."""

    text: str
    kind: Literal["done", "note", "error"] = "done"
    exit_code: int = 2


def examine(arguments: Mapping[str, object], *, check: bool) -> int:
    """Print everything on stdout and give the exit code: 0, or that of the first problem."""
    screen = Screen()
    layers = layers_of(arguments)
    configuration, settings = settle(layers)
    screen.say(versions())
    screen.say("Settings", "bold")
    for line in settings_lines(configuration, settings, layers):
        screen.say(f"  {visible(line)}")
    screen.say("Findings", "bold")
    problems = []
    for found in findings(configuration, settings, check=check):
        mark, style = screen.mark(found.kind)
        screen.say(f"  {mark} {visible(found.text)}", style if found.kind == "error" else "")
        problems += [found.exit_code] if found.kind == "error" else []
    return problems[0] if problems else 0


def settings_lines(configuration: Configuration, settings: Settings, layers: list[Layer]) -> Iterator[str]:
    """Each setting as `name = value (where it is from)`, the agent's groups at the end."""
    groups = {"memory", "tools", "guard", "model_settings"}
    for name in Configuration.model_fields:
        if name not in groups:
            value = getattr(configuration, name)
            shown = getattr(settings, name, value) if name != "model" else value or OFFLINE
            yield _line((name,), shown, layers)
    for name in sorted(groups):
        group: BaseModel = getattr(configuration, name)
        for field in type(group).model_fields:
            yield _line((name, field), getattr(group, field), layers)


def _line(path: tuple[str, ...], value: Any, layers: list[Layer]) -> str:
    where = origin(layers, path)
    name = ".".join(path)
    if path == ("api_key",):
        return f"{name}: {f'set (from {where})' if value is not None else 'not set'}"
    if path == ("system_prompt",):
        value = f"{len(str(value))} characters"
    return f"{name} = {_without_secret(value)} ({f'from {where}' if where else 'default'})"


def _without_secret(value: Any) -> str:
    """A URL without the name, password and query that it may carry; any other value as it is."""
    text = "not set" if value is None else str(value)
    if "://" not in text or text.startswith("sqlite:"):
        return text
    parts = urlsplit(text)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


def versions() -> str:
    """Python's version and those of the packages that matter."""
    return ", ".join([f"Python {platform.python_version()}", *(f"{name} {_version(name)}" for name in PACKAGES)])


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def findings(configuration: Configuration, settings: Settings, *, check: bool) -> Iterator[Finding]:
    """What works and what is missing. Without `check` no request is made."""
    workspace = _workspace(configuration)
    yield workspace
    if workspace.kind == "done":
        yield from _tools(tools_of(configuration))
    yield _storage(configuration.storage)
    yield from _model(configuration, settings, check=check)
    yield from _counting(configuration)
    yield from (Finding(text, "note") for text in unknown_variables(os.environ))


def _counting(configuration: Configuration) -> Iterator[Finding]:
    """How a language model's tokens are counted; nothing where the storage cannot be read, as its own line says."""
    if configuration.model is None or configuration.model.startswith("offline:"):
        return
    try:
        text = counting(configuration.model, configuration.storage)
    except LoopwrightError:
        return
    yield Finding(text)


def unknown_variables(environment: Mapping[str, str]) -> Iterator[str]:
    """LOOPWRIGHT_* variables that nothing reads, with what may have been meant."""
    known = [f"{PREFIX}{name.upper()}" for name in Configuration.model_fields]
    for name in sorted(environment):
        plain = name.upper()
        if plain.startswith(PREFIX) and plain.split(SEPARATOR)[0] not in known and plain not in OWN_VARIABLES:
            close = get_close_matches(plain, known, n=1)
            yield f"Nothing reads the variable {name}" + (f"; did you mean {close[0]}?" if close else ".")


def _tools(tools: Sequence[BaseTool]) -> Iterator[Finding]:
    """What their authors should add to the tools, or that nothing is missing."""
    missing = [Finding(text, "note") for text in warnings(tools)]
    yield from missing or [Finding(f"The {len(tools)} tools say when to use them and declare their effect.")]


def _workspace(configuration: Configuration) -> Finding:
    folder = workspace_of(configuration).absolute()
    if not folder.is_dir():
        return Finding(f"The workspace {folder} is not a folder: create it, or name another.", kind="error")
    if not os.access(folder, os.R_OK | os.X_OK):
        return Finding(f"The workspace {folder} cannot be read.", kind="error")
    return Finding(f"The workspace {folder} can be read.")


def _storage(url: str) -> Finding:
    """Whether threads can be kept; a file that does not exist yet is not created."""
    try:
        place = place_of(url)
        if isinstance(place, MemoryPlace):
            return Finding("The storage is memory: threads end with the process.", "note")
        if not isinstance(place, SqlitePlace):
            with place.claim("loopwright doctor"):  # a login that creates no tables
                return Finding(f"The storage {place.url} can be reached.")
        path = place.path.absolute()
        if not path.exists():
            if path.parent.is_dir() and os.access(path.parent, os.W_OK | os.X_OK):
                return Finding(f"The storage {path} will be created by the first run.")
            return Finding(f"The storage {path} cannot be created: its folder is missing or read-only.", kind="error")
        with open_storage(url):
            pass
    except LoopwrightError as error:
        return Finding(str(error), kind="error")
    if not os.access(path, os.W_OK):
        return Finding(f"The storage {path} is read-only: make it writable, or name another.", kind="error")
    return Finding(
        f"The storage {path} can be read and written: a killed process loses no finished step, "
        "a power cut may lose the last ones."
    )


def _model(configuration: Configuration, settings: Settings, *, check: bool) -> Iterator[Finding]:
    note = model_note(configuration)
    if note is not None:
        yield Finding(note, "note")
    try:
        model = load_model(
            configuration.model or OFFLINE,
            base_url=configuration.base_url,
            api_key=configuration.api_key,
            settings=settings.model.model_copy(update={"max_tokens": 16}),
        )
    except LoopwrightError as error:
        yield Finding(str(error), kind="error", exit_code=error.exit_code)
        return
    if not check:
        yield Finding("The model was not asked (--check makes one short request).", "note")
        return
    try:
        model.invoke("Reply with: ok")
    except Exception as error:
        text = without_key(model_failure(error)["text"], configuration.api_key)
        yield Finding(f"The model does not answer: {text}", kind="error", exit_code=5)
    else:
        yield Finding("The model answers.")


def without_key(text: str, key: SecretStr | None) -> str:
    """The text with the key blotted out, should a server have repeated it."""
    return text.replace(key.get_secret_value(), "***") if key and key.get_secret_value() else text
