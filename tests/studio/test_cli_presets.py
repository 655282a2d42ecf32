"""`loopwright presets` and `--preset`: every number is listed with its default, and a run takes them."""

import json
from collections.abc import Callable

import pytest
from typer.testing import Result

from loopwright import Settings
from loopwright.presets import PRESETS
from loopwright_studio.preset_list import chosen, lines


def test_every_number_is_listed(invoke: Callable[..., Result]) -> None:
    """Each preset's name and settings stand in the output, a changed one beside its default."""
    out = invoke("presets")
    assert out.exit_code == 0
    for name, preset in PRESETS.items():
        assert f"{name}: {preset.about}" in out.output
        for line in lines(preset):
            assert line.setting in out.output
    assert "max_model_calls              8         50" in out.output


def test_the_listed_defaults_are_the_defaults() -> None:
    """What is said to be replaced is what Settings has; what does not differ says so."""
    dumped = Settings().model_dump()
    for preset in PRESETS.values():
        for line in lines(preset):
            group, _, name = line.setting.partition(".")
            assert line.default == (dumped[group][name] if name else dumped[group])
            assert line.differs == (line.value != line.default)


def test_one_preset_comes_with_its_prompts(invoke: Callable[..., Result]) -> None:
    """Named alone it shows both system prompts; as JSON it has all of it."""
    out = invoke("presets", "reflective")
    assert "rolling-summary" not in out.output
    assert PRESETS["reflective"].prompts["zh"] in out.output
    data = json.loads(invoke("presets", "reflective", "--json").output)
    assert data["reflective"]["settings"]["guard.error_rounds"] == {"value": 3, "default": 5}


@pytest.mark.parametrize("words", [("presets", "react"), ("run", "--preset", "react", "task")])
def test_an_unknown_preset_is_a_usage_error(words: tuple[str, ...], invoke: Callable[..., Result]) -> None:
    """One sentence with the five names, and exit code 2."""
    out = invoke(*words)
    assert out.exit_code == 2
    assert all(name in out.output for name in chosen(None))


def test_a_run_takes_the_preset(invoke: Callable[..., Result]) -> None:
    """The step cap of the preset ends a run; an option beside it wins."""
    words = ("run", "--model", "offline:looper", "--storage", "memory:", "--json", "look at notes.txt")
    capped = [json.loads(line) for line in invoke(*words, "--preset", "clipped-results").output.splitlines()]
    assert capped[-1]["stop"]["policy"] == "same_call"
    shorter = invoke(*words, "--preset", "hybrid-window", "--max-model-calls", "2").output.splitlines()
    assert json.loads(shorter[-1])["stop"]["reason"] == "model_calls"


def test_a_project_may_name_a_preset(invoke: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable names it as well, and what is set elsewhere wins over what the preset says."""
    from loopwright_studio.configuration import load_settings

    monkeypatch.setenv("LOOPWRIGHT_PRESET", "rolling-summary")
    monkeypatch.setenv("LOOPWRIGHT_MEMORY__WINDOW", "8")
    _, settings = load_settings({"max_model_calls": 9})
    assert (settings.preset, settings.max_model_calls) == ("rolling-summary", 9)
    assert (settings.memory.window, settings.memory.summary_characters) == (8, 150)
