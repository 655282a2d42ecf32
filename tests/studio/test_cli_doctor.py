"""`loopwright doctor`: what is configured and from where, what is missing, never a secret."""

from collections.abc import Callable
from pathlib import Path

from typer.testing import Result

from loopwright.testing import ModelEndpoint, Status
from loopwright_studio.doctor import unknown_variables


def test_sources_are_named(invoke: Callable[..., Result], folder: Path) -> None:
    """Each value with the option, variable or file it came from; the rest are defaults."""
    (folder / "loopwright.toml").write_text("[memory]\ntarget = 0.5\n")
    result = invoke("doctor", "--workspace", str(folder), LOOPWRIGHT_MAX_MODEL_CALLS="7")
    assert result.exit_code == 0
    for line in (
        f"workspace = {folder} (from --workspace)",
        "max_model_calls = 7 (from LOOPWRIGHT_MAX_MODEL_CALLS)",
        "memory.target = 0.5 (from loopwright.toml: memory.target)",
        "max_tool_calls = 200 (default)",
        "model = offline:demo (default)",
        "api_key: not set",
    ):
        assert f"  {line}\n" in result.stdout
    assert "langgraph 1." in result.stdout
    assert "will be created by the first run" in result.stdout


def test_no_secret_is_shown(invoke: Callable[..., Result]) -> None:
    """The key is `set` with its source, a URL loses name, password and query; no request is made without --check."""
    with ModelEndpoint() as endpoint:
        url = endpoint.base_url.replace("//", "//me:pass-hidden@") + "?token=query-hidden"
        result = invoke("doctor", "--model", "openai:any", OPENAI_API_KEY="sk-hidden", LOOPWRIGHT_BASE_URL=url)
        assert endpoint.requests == []
    assert result.exit_code == 0
    assert "api_key: set (from OPENAI_API_KEY)" in result.stdout
    assert "hidden" not in result.output
    assert f"base_url = {endpoint_address(url)} (from LOOPWRIGHT_BASE_URL)" in result.stdout


def endpoint_address(url: str) -> str:
    """The URL without what is secret in it."""
    return "http://" + url.partition("@")[2].partition("?")[0]


def test_check_asks_the_model_once(invoke: Callable[..., Result]) -> None:
    """--check makes one request: it answers, or what is wrong is said with exit code 5, without the key."""
    words = ("doctor", "--check", "--model", "openai:any", "--base-url")
    with ModelEndpoint(["ok", Status(401, "Incorrect key: sk-hidden")]) as endpoint:
        fine = invoke(*words, endpoint.base_url, OPENAI_API_KEY="sk-hidden")
        refused = invoke(*words, endpoint.base_url, OPENAI_API_KEY="sk-hidden")
        assert len(endpoint.requests) == 2
    assert (fine.exit_code, refused.exit_code) == (0, 5)
    assert "The model answers." in fine.stdout
    assert "does not answer" in refused.stdout
    assert "sk-hidden" not in refused.output


def test_problems_are_found(invoke: Callable[..., Result], folder: Path) -> None:
    """A workspace, storage or key that keeps a run from working is said and decides the exit code."""
    assert invoke("doctor", "--workspace", "nowhere").exit_code == 2
    assert invoke("doctor", "--storage", "sqlite:///notes.txt").exit_code == 2
    assert invoke("doctor", "--storage", "sqlite:///no/where.db").exit_code == 2
    result = invoke("doctor", "--model", "openai:any")
    assert result.exit_code == 5
    assert "OPENAI_API_KEY" in result.stdout
    assert not (folder / "runs.db").exists()


def test_misspelt_variables_are_named() -> None:
    """A LOOPWRIGHT_ variable that nothing reads is named with the one that was meant; ours and groups are not."""
    found = [*unknown_variables({"LOOPWRIGHT_MODLE": "x", "LOOPWRIGHT_DEBUG": "1", "LOOPWRIGHT_TOOLS__TIMEOUT": "3"})]
    assert found == ["Nothing reads the variable LOOPWRIGHT_MODLE; did you mean LOOPWRIGHT_MODEL?"]
