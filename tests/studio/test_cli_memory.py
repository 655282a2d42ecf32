"""`loopwright memory`, the user of a run, and what `doctor` and `show` say about counting tokens."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from loopwright.builtins import keep
from loopwright.steps import drive
from loopwright.storage import open_storage
from loopwright.testing import ModelEndpoint, call, reply
from loopwright.testing.steps import EndpointStep

ON = {"LOOPWRIGHT_MEMORY__LONG_TERM": "true", "OPENAI_API_KEY": "k"}
LONG = "lorem ipsum dolor sit amet " * 200


@pytest.fixture
def kept(folder: Path) -> None:
    """Three facts of two users, one of them the same."""
    with open_storage(f"sqlite:///{folder}/runs.db") as storage:
        for user, text in (("ada", "Likes tea."), ("ada", "Has a dog."), ("a.b@c.de", "Likes tea.")):
            drive(keep(storage.store, user, "t", text))


def listed(invoke: Callable[..., Result], *words: str) -> list[tuple[str, str]]:
    """User and fact of each memory."""
    return sorted(
        (each["user"], each["text"]) for each in json.loads(invoke("memory", "list", *words, "--json").stdout)
    )


@pytest.mark.usefixtures("kept")
def test_memories_are_listed(invoke: Callable[..., Result]) -> None:
    """Of all users or of one, for people and as JSON."""
    assert listed(invoke) == [("a.b@c.de", "Likes tea."), ("ada", "Has a dog."), ("ada", "Likes tea.")]
    assert listed(invoke, "--user", "ada") == [("ada", "Has a dog."), ("ada", "Likes tea.")]
    shown = invoke("memory", "list").stdout
    assert "a.b@c.de" in shown
    assert "Has a dog." in shown


@pytest.mark.usefixtures("kept")
def test_one_memory_or_all_can_be_deleted(invoke: Callable[..., Result]) -> None:
    """By key, of one user; all at once; never without a yes."""
    (tea,) = {each["key"] for each in json.loads(invoke("memory", "list", "--json").stdout) if "tea" in each["text"]}
    several = invoke("memory", "delete", tea, "--yes")
    assert (several.exit_code, "say whose with --user" in several.stderr) == (2, True)
    unasked = invoke("memory", "delete", tea, "--user", "ada")
    assert (unasked.exit_code, "add --yes" in unasked.stderr) == (2, True)
    done = invoke("memory", "delete", tea, "--user", "ada", "--yes")
    assert (done.exit_code, done.stderr) == (0, "Deleted the memory 'Likes tea.' of ada.\n")
    assert listed(invoke) == [("a.b@c.de", "Likes tea."), ("ada", "Has a dog.")]
    assert "2 memories of a.b@c.de, ada" in invoke("memory", "delete", "--all", "--yes").stderr
    assert invoke("memory", "list").stdout == "No memories.\n"


def test_what_cannot_be_deleted_is_said(invoke: Callable[..., Result], folder: Path) -> None:
    """One sentence, exit code 2, and looking creates no storage."""
    for words in (["delete"], ["delete", "k", "--all"], ["delete", "k", "-y"], ["delete", "--all", "-y"]):
        result = invoke("memory", *words)
        (line,) = result.stderr.splitlines()
        assert (result.exit_code, line.startswith("Error: ")) == (2, True)
    assert invoke("memory", "list").stdout == "No memories.\n"
    assert not (folder / "runs.db").exists()


def test_a_run_keeps_facts_of_its_user(invoke: Callable[..., Result]) -> None:
    """Asked for, approved in a second process, listed; without a user one sentence."""
    script: list[EndpointStep] = [reply("", call("remember", fact="Likes tea.", across=True)), "kept"]
    with ModelEndpoint(script) as endpoint:
        words = ("--model", "openai:any", "--base-url", endpoint.base_url, "-q")
        nobody = invoke("run", "I like tea", *words, **ON)
        assert (nobody.exit_code, "add --user ID" in nobody.stderr) == (2, True)
        assert invoke("run", "I like tea", "--thread", "t", "--user", "ada", *words, **ON).exit_code == 4
        assert listed(invoke) == []
        done = invoke("resume", "t", "--approve", *words, **ON, LOOPWRIGHT_USER="ada")
    assert (done.exit_code, done.stdout) == (0, "kept\n")
    assert listed(invoke) == [("ada", "Likes tea.")]


def test_a_projects_file_cannot_do_without_approval(invoke: Callable[..., Result], folder: Path) -> None:
    """It may turn long-term memory on, but not let the model write to it unasked."""
    (folder / "loopwright.toml").write_text("[memory]\nlong_term = true\nlong_term_approval = false\n")
    result = invoke("run", "hello", "--user", "ada")
    assert result.exit_code == 2
    assert "may not set memory.long_term_approval" in result.stderr
    assert "LOOPWRIGHT_MEMORY__LONG_TERM_APPROVAL" in result.stderr


def test_doctor_and_show_say_how_tokens_are_counted(invoke: Callable[..., Result]) -> None:
    """Exactly, not known yet, or as the newest thread's server reported."""
    key = {"OPENAI_API_KEY": "k"}
    assert "gpt-4o-mini are counted exactly" in invoke("doctor", "--model", "openai:gpt-4o-mini", **key).stdout
    assert "until its server has reported some" in invoke("doctor", "--model", "openai:qwen3", **key).stdout
    with ModelEndpoint([reply("done", usage=(4_000, 5))]) as endpoint:
        invoke("run", LONG, "--thread", "t", "--model", "openai:qwen3", "--base-url", endpoint.base_url, "-q", **key)
    (shown,) = [line for line in invoke("show", "t", COLUMNS="200").stdout.splitlines() if "for each of ours" in line]
    ratio = shown.partition("counts ")[2].partition(" ")[0]
    assert 1 < float(ratio) < 2
    found = invoke("doctor", "--model", "openai:qwen3", COLUMNS="200", **key).stdout
    assert f"The server of qwen3 counts {ratio} tokens for each of ours (thread t)" in found
