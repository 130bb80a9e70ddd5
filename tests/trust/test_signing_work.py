"""What signing a verdict does around `ssh-keygen`: how its end is met, what is left of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from team_console.store.backends.open import open_team
from team_console.store.contract.team import Team
from team_console.store.model.errors import Code, TeamError
from team_console.store.service import requests
from team_console.store.service.caller import Caller
from team_console.store.views.verdicts import verdict_of

from tests.conftest import CommandLine
from tests.trust.keys_of_humans import key_file, public_line, sign_verdicts


@pytest.fixture
def signed(team: CommandLine) -> Iterator[Team]:
    sign_verdicts(team.folder)
    opened = open_team(str(team.folder))
    yield opened
    opened.close()


def _plan(team: Team) -> str:
    return requests.submit_plan(Caller(team, "task-manager"), content="1. Go").request_id or ""


def _approve(team: Team, request_id: str) -> None:
    requests.approve(Caller(team, "ceo"), request_id=request_id)


def _program(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Put a program of this text in the place of `ssh-keygen`."""
    path = folder / "bin" / "ssh-keygen"
    path.parent.mkdir()
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{path.parent}:{os.environ['PATH']}")


def test_a_key_that_is_not_among_the_humans_keys_writes_no_verdict(signed: Team, team: CommandLine) -> None:
    path = team.folder / "messenger-config.yaml"
    path.write_text(path.read_text().replace(f"sign_with: {key_file()}", f"sign_with: {key_file(name='other')}"))
    request = _plan(signed)
    with pytest.raises(TeamError) as caught:
        _approve(signed, request)
    assert caught.value.code is Code.SIGNATURE_FAILED
    assert "none of humans.ceo.keys" in caught.value.message
    assert "sign_with" in caught.value.hint
    assert [message.type for message in signed.snapshot().messages] == ["plan_approval_request"]
    assert public_line() != public_line(name="other")


@pytest.mark.parametrize("script", ["cat >/dev/null; echo signed", "cat >/dev/null; printf '\\377'"])
def test_a_program_that_gives_no_signature_is_told_in_words(
    signed: Team, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    request = _plan(signed)
    _program(tmp_path, monkeypatch, script)
    with pytest.raises(TeamError) as caught:
        _approve(signed, request)
    assert caught.value.code is Code.SIGNATURE_FAILED
    assert "nothing was signed" in caught.value.message


def test_a_statement_longer_than_a_pipe_holds_is_signed(signed: Team) -> None:
    request = _plan(signed)
    edited = "".join(f"{number}. another step\n" for number in range(10_000))
    requests.approve(Caller(signed, "ceo"), request_id=request, updated=edited)
    assert verdict_of(signed, request).state == "approved"
