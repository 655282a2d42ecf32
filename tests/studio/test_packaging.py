"""What is shipped: sdist and wheel built without the network, and the wheel at work in a clean environment."""

import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = {"loopwright": "graph", "loopwright_tools": "tools", "loopwright_studio": "studio"}

pytestmark = pytest.mark.slow


class Distribution(NamedTuple):
    """The two files that a release consists of."""

    sdist: Path
    wheel: Path


def run(*command: str | Path, cwd: Path) -> str:
    """What a command prints, in an environment that knows nothing of this checkout; it has to succeed."""
    environment = {"PATH": os.defpath, "HOME": str(cwd), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    process = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Distribution:
    """The sdist built from this checkout, and the wheel built from that sdist."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return Distribution(sdist, wheel)


@pytest.fixture(scope="module")
def installed(built: Distribution, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a clean environment: the wheel, and this environment's packages for what it depends on.

    A path file adds those packages; the path files among them are not read, so that the editable install stays out.
    """
    home = tmp_path_factory.mktemp("clean")
    venv.create(home, with_pip=True)
    python = home / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", built.wheel, cwd=home)
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=home).strip())
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return python


def test_the_wheel_holds_the_three_packages_and_nothing_else(built: Distribution) -> None:
    """Every file of the source roots' packages is in the wheel; tests, benchmarks and examples are not."""
    with zipfile.ZipFile(built.wheel) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
    paths = {
        path.relative_to(ROOT / source)
        for package, source in PACKAGES.items()
        for path in (ROOT / source / package).rglob("*")
        if path.is_file()
    }
    left_by_tools = {path for path in paths if any(part.startswith((".", "__pycache__")) for part in path.parts)}
    assert names == {path.as_posix() for path in paths - left_by_tools}
    assert {f"{package}/py.typed" for package in PACKAGES} <= names


def test_the_sdist_holds_what_a_packager_needs(built: Distribution) -> None:
    """Sources, tests, licence and changelog are in the sdist; nothing that lies about in a checkout is."""
    with tarfile.open(built.sdist) as sdist:
        paths = [Path(name).parts[1:] for name in sdist.getnames()]
    tops = {path[0] for path in paths if path}
    needed = {
        "graph",
        "tools",
        "studio",
        "tests",
        "langgraph.json",
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "PKG-INFO",
    }
    assert needed | {"CHANGELOG.md"} <= tops
    assert tops <= needed | {"CHANGELOG.md", ".gitignore", "README.zh-CN.md", "benchmarks", "docs", "examples"}
    assert not any("__pycache__" in path for path in paths)


USER_SCRIPT = """
import sys
from pathlib import Path
import graph, tools.weather
import loopwright, loopwright_studio, loopwright_tools

assert graph.ANSWER == 42 and tools.weather.SKY == "blue"
assert all(hasattr(loopwright, name) for name in loopwright.__all__)
ours = {name: module.__file__ for name, module in sys.modules.items() if name.startswith("loopwright")}
assert {"loopwright.graph", "loopwright_tools", "loopwright_studio"} <= set(ours)
assert all(Path(file).is_relative_to(sys.prefix) for file in ours.values()), ours
print("works")
"""


def test_the_wheel_works_beside_a_users_own_graph_and_tools(installed: Path, tmp_path: Path) -> None:
    """A user's graph.py and tools/ import as theirs, and the three packages come from the wheel."""
    (tmp_path / "graph.py").write_text("ANSWER = 42\n", encoding="utf-8")
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "__init__.py").touch()
    (tmp_path / "tools" / "weather.py").write_text('SKY = "blue"\n', encoding="utf-8")
    (tmp_path / "main.py").write_text(USER_SCRIPT, encoding="utf-8")
    assert run(installed, "main.py", cwd=tmp_path) == "works\n"


def test_the_command_is_installed(installed: Path, tmp_path: Path) -> None:
    """The wheel brings the command `loopwright`, which says how it is used."""
    assert "run" in run(installed.with_name("loopwright"), "--help", cwd=tmp_path)
