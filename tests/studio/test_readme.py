"""Every code block of the README and the docs runs as it stands, and so does every example."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
SERVER = "http://127.0.0.1:2024"
"""Blocks that ask this server are run in test_server_docs.py, which starts it."""
DOCS = [
    pytest.param(block, id=f"{page.stem}-{number}")
    for page in [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.zh-CN.md"]
    for number, block in enumerate(
        re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S), 1
    )
    if SERVER not in block
]
COMMANDS = [line for language, block in BLOCKS if language == "sh" for line in block.splitlines()]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the examples in it, as in the repository's root."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    shutil.copy(ROOT / "README.md", tmp_path)
    return tmp_path


def environment() -> dict[str, str]:
    """No key, no settings, this interpreter's own `loopwright` first on the path."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI", "LOOPWRIGHT"))}
    return kept | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "PYTHONPATH": ""}


@pytest.mark.parametrize("block", [block for language, block in BLOCKS if language == "python"])
def test_python_blocks_run(block: str, folder: Path) -> None:
    """Each block is a whole program."""
    command = [sys.executable, "-c", block]
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    lacking = "calculator" in done.stdout and " = " not in done.stdout
    assert not lacking, f"offline:demo names the tool that it lacks: {done.stdout}"


@pytest.mark.parametrize("block", DOCS)
def test_python_blocks_of_the_docs_run(block: str, folder: Path) -> None:
    """So is each block in docs/."""
    test_python_blocks_run(block, folder)


def test_commands_run_in_order(folder: Path) -> None:
    """Installing aside, each line of the shell blocks ends with 0; the first answers the question."""
    assert len(COMMANDS) > 6
    outputs = []
    for line in COMMANDS:
        command = line.removeprefix("pip install uv && ").replace("uv run ", "")
        done = subprocess.run(
            ["bash", "-c", command], cwd=folder, env=environment(), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (command, done.stderr)
        outputs.append(done.stdout)
    rows = (folder / "examples" / "workspace" / "sales.csv").read_text(encoding="utf-8").splitlines()
    march = sum(round(float(row.split(",")[-1]) * 100) for row in rows if row.startswith("2026-03"))
    assert f"{march * 15 / 10_000:.2f}".rstrip("0") in outputs[0]


def test_the_readme_stays_short() -> None:
    """At most 150 lines."""
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150


def test_the_chinese_readme_leads_to_the_same_places() -> None:
    """Every link and command of the English one stands in it; a page that exists in Chinese by its Chinese name."""
    chinese = (ROOT / "README.zh-CN.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)]+)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(links) > 15
    own = {link: link.replace(".md", ".zh-CN.md") for link in links}
    wanted = {own[link] if (ROOT / own[link]).exists() else link for link in links} - {"README.zh-CN.md"}
    assert {link for link in wanted if f"]({link})" not in chinese} == set()
    assert [line for line in COMMANDS if line not in chinese] == []


def test_every_link_of_the_readmes_and_docs_leads_somewhere() -> None:
    """A file that exists, and a heading of it."""
    pages = [ROOT / "README.md", ROOT / "README.zh-CN.md", *(ROOT / "docs").glob("*.md")]
    broken = []
    for page in pages:
        for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
            path, _, anchor = link.partition("#")
            target = page if not path else page.parent / path
            if link.startswith("http"):
                continue
            headings = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.M) if anchor else []
            known = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
            if not target.exists() or (anchor and anchor not in known):
                broken.append((page.name, link))
    assert broken == []


@pytest.mark.parametrize(
    ("example", "said"),
    [
        ("hello.py", "372"),
        ("own_tool.py", "{'A17': 'cancelled'}"),
        ("own_policy.py", "3 searches are enough"),
        ("as_a_node.py", "done: ['A17: 200']"),
        ("resume_after_kill.py", "['first', 'second', 'third']"),
    ],
)
def test_examples_run(example: str, said: str, folder: Path) -> None:
    """Each example runs from the repository's root and says what it promises."""
    command = [sys.executable, f"examples/{example}"]
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert said in done.stdout
