"""Configuration: arguments over variables over loopwright.toml over defaults, and what a project's file may not do."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwright import Settings
from loopwright.errors import SettingsError
from loopwright_studio.configuration import Configuration, layers_of, load_settings
from loopwright_studio.sources import Layer, merged, origin


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody's variables."""
    for name in list(os.environ):
        if name.startswith(("LOOPWRIGHT_", "OPENAI_")):
            monkeypatch.delenv(name)


def write(folder: Path, text: str) -> Path:
    """A project's file."""
    (folder / "loopwright.toml").write_text(text, encoding="utf-8")
    return folder


def test_defaults_are_those_of_settings(tmp_path: Path) -> None:
    """Without any source the agent's settings are its own defaults, kept in runs.db of the current folder."""
    configuration, settings = load_settings(folder=tmp_path)
    assert settings == Settings()
    assert (configuration.model, configuration.storage) == (None, "sqlite:///runs.db")


def test_every_setting_can_be_configured() -> None:
    """A field that is added to Settings has a place here; the group `model` is called `model_settings`."""
    assert {*Settings.model_fields} - {"model"} <= {*Configuration.model_fields}


def test_the_stronger_source_wins_for_each_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arguments over variables over the file, also inside a group, whose other values stay."""
    write(
        tmp_path,
        "max_model_calls = 1\nmax_tool_calls = 1\nmax_tokens = 1\n[memory]\ntarget = 0.1\nclip_characters = 7\n",
    )
    monkeypatch.setenv("LOOPWRIGHT_MAX_MODEL_CALLS", "2")
    monkeypatch.setenv("LOOPWRIGHT_MAX_TOOL_CALLS", "2")
    monkeypatch.setenv("LOOPWRIGHT_MEMORY__TARGET", "0.2")
    _, settings = load_settings({"max_model_calls": 3, "max_seconds": None}, tmp_path)
    assert (settings.max_model_calls, settings.max_tool_calls, settings.max_tokens) == (3, 2, 1)
    assert (settings.memory.target, settings.memory.clip_characters) == (0.2, 7)


def test_model_settings_have_a_group_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model's name and the model's settings do not meet under one name."""
    write(tmp_path, 'model = "offline:looper"\n[model_settings]\ntries = 2\n')
    monkeypatch.setenv("LOOPWRIGHT_MODEL_SETTINGS__TIMEOUT", "7.5")
    configuration, settings = load_settings(folder=tmp_path)
    assert (configuration.model, settings.model.tries, settings.model.timeout) == ("offline:looper", 2, 7.5)


def test_where_a_value_came_from_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The option, the variable or the line of the file; None for a default."""
    write(tmp_path, "[tools]\ntimeout = 5\n")
    monkeypatch.setenv("LOOPWRIGHT_MODEL", "offline:demo")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-hidden")
    layers = layers_of({"max_tokens": 9}, tmp_path)
    paths = (("max_tokens",), ("model",), ("api_key",), ("tools", "timeout"), ("tools", "retries"), ("storage",))
    assert [origin(layers, path) for path in paths] == [
        "--max-tokens", "LOOPWRIGHT_MODEL", "OPENAI_API_KEY", "loopwright.toml: tools.timeout", None, None,
    ]  # fmt: skip


def test_the_key_is_held_as_a_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither text nor repr of the configuration shows the key; ours comes before the provider's variable."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-other")
    monkeypatch.setenv("LOOPWRIGHT_API_KEY", "sk-hidden")
    configuration, _ = load_settings(folder=tmp_path)
    assert "sk-" not in f"{configuration!r}{configuration}"
    assert configuration.api_key is not None
    assert configuration.api_key.get_secret_value() == "sk-hidden"


@pytest.mark.parametrize(
    "line", ['base_url = "http://evil.example"', 'storage = "sqlite:////tmp/x"', 'api_key = "sk-x"']
)
def test_a_project_may_not_send_the_key_or_the_threads_elsewhere(tmp_path: Path, line: str) -> None:
    """A cloned repository's file that names an endpoint, a storage or a key is refused by name."""
    with pytest.raises(SettingsError, match=f"may not set {line.split()[0]}") as refused:
        load_settings(folder=write(tmp_path, line))
    assert "evil" not in str(refused.value)
    assert "sk-x" not in str(refused.value)


@pytest.mark.parametrize("place", ["..", "/", "sub/../../x", "~"])
def test_a_project_may_not_open_a_workspace_outside_of_itself(tmp_path: Path, place: str) -> None:
    """Tools read the workspace: a project's file can only name a folder within the project."""
    with pytest.raises(SettingsError, match="workspace outside"):
        load_settings(folder=write(tmp_path, f'workspace = "{place}"'))
    assert load_settings(folder=write(tmp_path, 'workspace = "data"'))[0].workspace == Path("data")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("max_modell_calls = 3", "did you mean max_model_calls"),
        ("[memory]\ntraget = 0.5", r"'memory\.traget' \(from loopwright\.toml: memory\.traget\); did you mean target"),
        ("[tools]\nqqqq = 1", "known here are timeout, retries"),
        ("max_model_calls = 0", r"max_model_calls \(from loopwright\.toml: max_model_calls\) has a bad value"),
        ("on_limit = 'explode'", "should be 'close' or 'ask'"),
        ("tools = 3", r"tools \(from"),
        ("= 1", "not valid TOML"),
    ],
)
def test_a_bad_file_gets_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    """The setting, where it stands, and what is wrong or was meant."""
    with pytest.raises(SettingsError, match=sentence) as refused:
        load_settings(folder=write(tmp_path, text))
    assert "\n" not in str(refused.value)


def test_a_file_that_is_no_text_or_no_file(tmp_path: Path) -> None:
    """Bytes that are not UTF-8 and a folder of that name are said, not thrown."""
    (tmp_path / "loopwright.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(SettingsError, match="not valid TOML"):
        load_settings(folder=tmp_path)
    (tmp_path / "loopwright.toml").unlink()
    (tmp_path / "loopwright.toml").mkdir()
    with pytest.raises(SettingsError, match="cannot be read"):
        load_settings(folder=tmp_path)


def test_bad_variables_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable's name stands in the sentence, its value does not; an empty one counts as unset."""
    monkeypatch.setenv("LOOPWRIGHT_MAX_TOKENS", "")
    assert load_settings(folder=tmp_path)[1].max_tokens is None
    monkeypatch.setenv("LOOPWRIGHT_MAX_TOKENS", "sk-oops")
    with pytest.raises(SettingsError, match="LOOPWRIGHT_MAX_TOKENS") as refused:
        load_settings(folder=tmp_path)
    assert "sk-oops" not in str(refused.value)
    monkeypatch.delenv("LOOPWRIGHT_MAX_TOKENS")
    monkeypatch.setenv("LOOPWRIGHT_MEMORY", "{broken")
    with pytest.raises(SettingsError, match="cannot be read"):
        load_settings(folder=tmp_path)


nested = st.dictionaries(
    st.sampled_from("abc"), st.integers() | st.dictionaries(st.sampled_from("xy"), st.integers(), min_size=1)
)


@given(nested, nested)
def test_merging_keeps_every_value_of_the_stronger_layer(upper: dict[str, object], lower: dict[str, object]) -> None:
    """What the stronger layer sets holds; what only the weaker one sets holds as well, unless its place is taken."""
    both = merged([Layer.of(upper, ".".join), Layer.of(lower, ".".join)])
    for name in upper.keys() | lower.keys():
        above, below = upper.get(name), lower.get(name)
        if isinstance(above, dict) and isinstance(below, dict):
            assert both[name] == {**below, **above}
        else:
            assert both[name] == (above if name in upper else below)
