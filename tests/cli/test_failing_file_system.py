"""A file system that fails at any look at the team ends in words about it, never as a defect of ours."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest
from team_console.console.cli.main import run

from tests.equipment.cases import cases
from tests.equipment.command_line import CommandLine


@cases
@pytest.mark.parametrize("verb", ["receive --agent file-manager", "send --to file-manager --summary x --content c"])
def test_whichever_look_fails_it_is_said_and_the_next_call_works(
    verb: str, number: int, team: CommandLine, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    words = ["-t", str(team.folder), *verb.split(), "--as", "ceo", "--json"]
    really_open = os.open
    looks = 0

    def opening(path: Any, flags: int, *rest: Any, **more: Any) -> int:
        nonlocal looks
        if str(path).startswith(str(team.folder)):
            looks += 1
            if looks == failing:
                raise OSError(number, os.strerror(number), str(path))
        return really_open(path, flags, *rest, **more)

    monkeypatch.setattr(os, "open", opening)
    failing = 0
    assert run(words) == 0
    assert looks
    for failing in range(1, looks + 1):  # noqa: B007
        looks = 0
        capfd.readouterr()
        status = run(words)
        said = json.loads(capfd.readouterr().out)
        assert status == 0 or said["error"] in ("STORE_FAILED", "STORE_UNREADABLE"), said
    failing = 0
    assert run(words) == 0
