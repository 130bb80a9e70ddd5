"""Without the packages of the SQL extra, what needs them says how to install them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import CommandLine


@pytest.mark.parametrize("words", [("migrate", ".", "copy.db"), ("-t", "copy.db", "status")])
def test_a_database_without_its_packages_names_the_command_that_installs_them(
    team: CommandLine, tmp_path: Path, words: tuple[str, ...]
) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['sqlalchemy'] = None\n")
    if words[0] == "-t":
        (team.folder / "copy.db").touch()
    root = Path(__file__).resolve().parents[2]
    result = team(*words, env={"PYTHONPATH": f"{tmp_path}:{root}"})
    assert result.status == 1
    assert "need sqlalchemy" in result.err
    assert "pip install" in result.err
    assert "defect" not in result.err
