"""What the command line and the Studio entry are configured with, and where each value came from."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from loopwright.errors import SettingsError
from loopwright.presets import PresetName
from loopwright.settings import GuardSettings, MemorySettings, ModelSettings, ProtocolName, Settings, ToolSettings
from loopwright_studio.sources import PREFIX, SEPARATOR, Layer, Names, merged, origin, read_layers

OFFLINE = "offline:demo"
"""The model when none is named: a few rules, no language model, no network."""


class Configuration(BaseSettings):
    """One value a setting: an argument, else a LOOPWRIGHT_* variable, else loopwright.toml, else the default.

    A group is written as a table in the file and with two underscores in a variable: `[model_settings] timeout = 30` is
    LOOPWRIGHT_MODEL_SETTINGS__TIMEOUT=30. None means that Settings' own default holds.
    """

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter=SEPARATOR, env_ignore_empty=True, extra="forbid", frozen=True
    )

    model: str | None = None
    base_url: str | None = None
    api_key: SecretStr | None = None
    storage: str = "sqlite:///runs.db"
    workspace: Path = Path()
    user: str | None = None
    preset: PresetName | None = None
    system_prompt: str | None = None
    protocol: ProtocolName | None = None
    on_limit: Literal["close", "ask"] | None = None
    context_tokens: int | None = None
    max_model_calls: int | None = None
    max_tool_calls: int | None = None
    max_tokens: int | None = None
    max_cost_usd: float | None = None
    max_seconds: float | None = None
    memory: MemorySettings = MemorySettings()
    tools: ToolSettings = ToolSettings()
    guard: GuardSettings = GuardSettings()
    model_settings: ModelSettings = ModelSettings()

    def settings(self) -> Settings:
        """The agent's settings among these."""
        places = {"model", "base_url", "api_key", "storage", "workspace", "user", "model_settings"}
        chosen = {
            name: getattr(self, name)
            for name in type(self).model_fields
            if name not in places and getattr(self, name) is not None
        }
        return Settings(**chosen, model=self.model_settings)


def load_settings(
    arguments: Mapping[str, object] | None = None, folder: Path | None = None
) -> tuple[Configuration, Settings]:
    """The configuration, and the agent's settings in it, of a command with these arguments in `folder`.

    Raises SettingsError with one sentence for a bad value, an unknown name or an unreadable file.
    """
    return settle(layers_of(arguments, folder))


def layers_of(arguments: Mapping[str, object] | None = None, folder: Path | None = None) -> list[Layer]:
    """Every source with its values, strongest first."""
    return read_layers(Configuration, arguments or {}, folder or Path.cwd())


def settle(layers: Sequence[Layer]) -> tuple[Configuration, Settings]:
    """The configuration that these layers give."""
    try:
        configuration = Configuration(**merged(layers))  # reads the variables once more, below what is passed in
        return configuration, configuration.settings()
    except ValidationError as error:
        raise SettingsError(_sentence(error, layers)) from error


def _sentence(error: ValidationError, layers: Sequence[Layer]) -> str:
    """The first problem: which setting, from where, and what is wrong; no values, since one may be a secret."""
    first = error.errors(include_url=False, include_input=False)[0]
    path: Names = tuple(str(part) for part in first["loc"])
    where = origin(layers, path) or "the defaults"
    if first["type"] == "extra_forbidden":
        return f"There is no setting {'.'.join(path)!r} (from {where}); {_meant(path)}"
    message = first["msg"]
    return f"{'.'.join(path)} (from {where}) has a bad value: {message[:1].lower()}{message[1:]}."


def _meant(path: Names) -> str:
    fields: Mapping[str, Any] = Configuration.model_fields
    for name in path[:-1]:
        group = fields[name].annotation if name in fields else None
        fields = group.model_fields if isinstance(group, type) and issubclass(group, BaseModel) else {}
    close = get_close_matches(path[-1], fields, n=2)
    return f"did you mean {' or '.join(close)}?" if close else f"known here are {', '.join(fields)}."
