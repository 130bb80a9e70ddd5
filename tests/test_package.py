"""The package as a user installs it: beside others of the same names, complete, and the same from every build."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from team_console import __version__

from tests.equipment.command_line import ROOT, CommandLine, clean_environment

pytestmark = pytest.mark.slow
LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv*", "__pycache__", "*.egg-info", ".*_cache", ".hypothesis", "build", "dist"
)


def build(folder: Path, what: str) -> Path:
    """One release file of a fresh copy of the repository: `sdist` or `wheel`."""
    source, target = folder / "source", folder / "dist"
    shutil.copytree(ROOT, source, ignore=LEFT_OUT, symlinks=True)
    command = [sys.executable, "-m", "build", f"--{what}", "--outdir", str(target), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=clean_environment())
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    (made,) = target.iterdir()
    return made


def run(place: Path, code: str, cwd: Path) -> str:
    """What a fresh interpreter prints that finds the installed packages first."""
    environment = {**clean_environment(), "PYTHONPATH": str(place)}
    command = [sys.executable, "-P", "-c", code]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=True).stdout.strip()


def test_a_wheel_is_complete_and_lives_beside_packages_of_the_same_names(team: CommandLine, tmp_path: Path) -> None:
    installed = tmp_path / "installed"
    with zipfile.ZipFile(build(tmp_path, "wheel")) as packed:
        packed.extractall(installed)
        names = set(packed.namelist())
        told = packed.read(f"team_console-{__version__}.dist-info/METADATA").decode()
    _has_every_module_and_no_test(names)
    _shows_pictures_and_says_where_things_are(told)
    for name, text in (("console", "def fg(colour): return colour\n"), ("store", "SHELVES = 3\n")):
        (installed / name).mkdir()
        (installed / name / "__init__.py").write_text(text)
    code = (
        "from console import fg; import store, team_console.store.api, team_console.console.tui.app as a;"
        "print(fg('red'), store.SHELVES, a.__file__)"
    )
    red, shelves, file = run(installed, code, tmp_path).split()
    assert (red, shelves) == ("red", "3")
    assert file.startswith(str(installed / "team_console"))
    page = (ROOT / "docs" / "guide" / "python.md").read_text(encoding="utf-8")
    imports = re.findall(r"^(?:from|import) .*join_team.*$", page, re.M)
    assert len(imports) == 2
    for line in imports:
        assert run(installed, f"{line}\nprint(join_team.__module__)", tmp_path) == "team_console.store.api"
    # A folder of the user that has such a module as well.
    (team.folder / "store.py").write_text("raise SystemExit('the wrong store')\n")
    path = f"{team.folder}{os.pathsep}{installed}"
    command = [sys.executable, "-m", "team_console.console", "status"]
    environment = {**clean_environment(), "PYTHONPATH": path}
    done = subprocess.run(command, cwd=team.folder, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, "sprint-42" in done.stdout) == (0, True), done.stderr


def _has_every_module_and_no_test(names: set[str]) -> None:
    wanted = {
        f"team_console/{path.relative_to(ROOT)}"
        for folder in ("console", "store", "widgets")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".py", ".tcss", ".typed", ".json"}
    }
    assert wanted - names == set()
    release = f"team_console-{__version__}"
    assert {name.split("/")[0] for name in names} == {"team_console", f"{release}.dist-info", f"{release}.data"}
    assert [name for name in names if ".data/" in name] == [f"{release}.data/data/share/man/man1/team-console.1"]


def _shows_pictures_and_says_where_things_are(told: str) -> None:
    head, _, page = told.partition("\n\n")
    links = re.findall(r"\]\(([^)\s]+)\)", page)
    ours = [link.partition(f"/v{__version__}/") for link in links if "raw.githubusercontent.com" in link]
    assert [link for link in links if not link.startswith(("https://", "#"))] == []
    assert [path for _, _, path in ours if not (ROOT / path.partition("#")[0]).is_file()] == []
    assert any(path.endswith(".svg") for _, _, path in ours)
    assert {"Repository", "Issues", "Changelog"} <= set(re.findall(r"^Project-URL: (\w+), https://", head, re.M))
    assert f"Version: {__version__}" in head.split("\n")
    assert "Classifier: Programming Language :: Python :: 3.14" in head


def test_a_source_release_is_complete(tmp_path: Path) -> None:
    # That it is the same every time, `make release-check` sees.
    first = build(tmp_path, "sdist")
    assert first.name == f"team_console-{__version__}.tar.gz"
    with tarfile.open(first) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    folders = ("console", "store", "widgets", "tests")
    sources = {str(path.relative_to(ROOT)) for folder in folders for path in (ROOT / folder).rglob("*.py")}
    assert sources - names == set()
    assert {"CHANGELOG.md", "README.md", "Makefile", "constraints.txt", "screenshots/needs.svg", ".ci/run"} <= names


def test_pins_name_versions_and_no_index() -> None:
    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if line and not line.startswith("#")]
    assert all(line.count("==") == 1 and "/" not in line and "@" not in line for line in lines)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pinned = {line.partition("==")[0].lower() for line in lines}
    assert {need.partition(">")[0].lower() for need in project["dependencies"]} <= pinned
