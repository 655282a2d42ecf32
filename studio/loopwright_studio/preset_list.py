"""The presets in the terminal: every number of each, and the default that it replaces."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from loopwright import Settings
from loopwright.errors import UsageError
from loopwright.presets import PRESETS, Preset
from loopwright_studio.console import Screen


class Line(NamedTuple):
    """One setting of a preset by its dotted name; `differs` from the default or only says it."""

    setting: str
    value: Any
    default: Any

    @property
    def differs(self) -> bool:
        """Whether the preset changes the default."""
        return bool(self.value != self.default)


def chosen(name: str | None) -> Mapping[str, Preset]:
    """The preset of this name, or all. Raises UsageError when there is none."""
    named: dict[str, Preset] = {str(known): preset for known, preset in PRESETS.items()}
    if name is None:
        return named
    if name not in named:
        raise UsageError(f"There is no preset {name!r}: choose among {', '.join(named)}.")
    return {name: named[name]}


def lines(preset: Preset) -> list[Line]:
    """Every setting that the preset names, groups with a dot."""
    return list(_lines(preset.values, Settings().model_dump()))


def _lines(values: Mapping[str, Any], defaults: Mapping[str, Any], above: str = "") -> Iterator[Line]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _lines(value, defaults[name], f"{above}{name}.")
        else:
            yield Line(f"{above}{name}", value, defaults[name])


def print_presets(screen: Screen, presets: Mapping[str, Preset]) -> None:
    """One table a preset; with a single one its system prompts as well."""
    for place, (name, preset) in enumerate(presets.items()):
        if place:
            screen.say("")
        screen.say(f"{name}: {preset.about}", "bold")
        rows = [[line.setting, _shown(line.value), _default(line)] for line in lines(preset)]
        screen.columns(("setting", "value", "default"), rows)
        if len(presets) == 1:
            for language, prompt in preset.prompts.items():
                screen.say(f"system_prompt ({language}): {prompt}")


def _default(line: Line) -> str:
    return _shown(line.default) if line.differs else "the same"


def _shown(value: Any) -> str:
    return "none" if value is None else str(value)


def presets_data(presets: Mapping[str, Preset]) -> dict[str, Any]:
    """The presets as JSON has them: what they are, prompts, and each setting with value and default."""
    return {
        name: {
            "about": preset.about,
            "system_prompt": dict(preset.prompts),
            "settings": {line.setting: {"value": line.value, "default": line.default} for line in lines(preset)},
        }
        for name, preset in presets.items()
    }
