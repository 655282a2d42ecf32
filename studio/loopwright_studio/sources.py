"""Where settings come from: arguments, LOOPWRIGHT_* variables, the provider's own variables, loopwright.toml."""

import os
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from pydantic_settings import BaseSettings, EnvSettingsSource
from pydantic_settings import SettingsError as UnreadableVariable

from loopwright.errors import SettingsError

FILE = "loopwright.toml"
PREFIX = "LOOPWRIGHT_"
SEPARATOR = "__"
PROVIDER_VARIABLES = (
    ("OPENAI_API_KEY", "api_key"),
    ("OPENAI_API_BASE", "base_url"),
    ("OPENAI_BASE_URL", "base_url"),
)
"""The variables that the provider's own client reads; a later one wins."""
REFUSED_IN_FILE = {
    "base_url": "a project that was copied from elsewhere could send your key to another server",
    "api_key": "a key does not belong into a project's file",
    "storage": "a project that was copied from elsewhere could write outside of its folder",
    "memory.long_term_approval": "a project that was copied from elsewhere could keep facts without your approval",
}
"""What a project's file may not set, and why; a name within a group behind the group's."""

Names: TypeAlias = tuple[str, ...]


@dataclass(frozen=True)
class Layer:
    """The values of one source, nested by group; `names` tells for each value what a person wrote to set it."""

    values: dict[str, Any]
    names: dict[Names, str]

    @classmethod
    def of(cls, values: Mapping[str, Any], name: Callable[[Names], str]) -> "Layer":
        """The layer of these values, each named by a function of its path."""
        return cls(dict(values), {path: name(path) for path in _paths(values)})


def read_layers(cls: type[BaseSettings], arguments: Mapping[str, object], folder: Path) -> list[Layer]:
    """The layers for the fields of `cls`, strongest first. Raises SettingsError for what cannot be read."""
    given = {name: value for name, value in arguments.items() if value is not None}
    try:
        variables = EnvSettingsSource(cls)()
    except UnreadableVariable as error:
        raise SettingsError(f"A {PREFIX}* variable cannot be read: {error}.") from error
    return [
        Layer.of(given, lambda path: f"--{path[0].replace('_', '-')}"),
        Layer.of(variables, lambda path: PREFIX + SEPARATOR.join(path).upper()),
        _provider_layer(),
        Layer.of(_read_file(folder), lambda path: f"{FILE}: {'.'.join(path)}"),
    ]


def merged(layers: Sequence[Layer]) -> dict[str, Any]:
    """All values, those of an earlier layer over those of a later one."""
    values: dict[str, Any] = {}
    for layer in reversed(layers):
        values = _over(layer.values, values)
    return values


def origin(layers: Sequence[Layer], path: Names) -> str | None:
    """What set the value at this path, or the nearest one around or within it; None when it is a default."""
    for layer in layers:
        for known, name in layer.names.items():
            shared = min(len(known), len(path))
            if known[:shared] == path[:shared]:
                return name
    return None


def _provider_layer() -> Layer:
    found = {field: name for name, field in PROVIDER_VARIABLES if os.environ.get(name)}
    return Layer.of({field: os.environ[name] for field, name in found.items()}, lambda path: found[path[0]])


def _read_file(folder: Path) -> dict[str, Any]:
    """The project's file; empty when there is none. Raises SettingsError for bad TOML and for what it may not set."""
    path = folder / FILE
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise SettingsError(f"{path} cannot be read ({error.strerror}): make it readable or remove it.") from error
    except ValueError as error:  # also bytes that are not UTF-8
        raise SettingsError(f"{path} is not valid TOML ({error}): correct it there.") from error
    for name, reason in REFUSED_IN_FILE.items():
        group, _, field = name.rpartition(".")
        inside = values.get(group) if group else values
        if isinstance(inside, dict) and field in inside:
            variable = PREFIX + SEPARATOR.join(name.split(".")).upper()
            raise SettingsError(f"{path} may not set {name}, since {reason}: remove it there and set {variable}.")
    workspace = values.get("workspace")
    inside = folder / os.path.expanduser(workspace) if isinstance(workspace, str) else folder
    if not inside.resolve().is_relative_to(folder.resolve()):
        raise SettingsError(
            f"{path} may not set a workspace outside of its folder ({workspace!r}): use --workspace for that."
        )
    return values


def _over(upper: Mapping[str, Any], lower: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(lower)
    for name, value in upper.items():
        below = result.get(name)
        result[name] = _over(value, below) if isinstance(value, dict) and isinstance(below, dict) else value
    return result


def _paths(values: Mapping[str, Any], above: Names = ()) -> Iterator[Names]:
    for name, value in values.items():
        if isinstance(value, dict) and value:
            yield from _paths(value, (*above, name))
        else:
            yield (*above, name)
