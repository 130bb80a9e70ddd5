"""Signed verdicts: made with a human's key, on hardware, too, checked here and by anybody, and worked out once."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from team_console.store.backends.open import open_team
from team_console.store.model.errors import Code, TeamError
from team_console.store.protocol import ssh_keygen, verdicts
from team_console.store.protocol.trust import objection
from team_console.store.protocol.verdicts import SIGNATURE, signature_trouble
from team_console.store.service import requests, sending
from team_console.store.service.caller import Caller
from team_console.store.views.rows import Flag, RequestRow, RequestState

from tests.equipment import asking
from tests.equipment.asking import refusal
from tests.equipment.cases import cases
from tests.equipment.command_line import CommandLine, needs
from tests.equipment.signed_teams import PLACES
from tests.equipment.signing_keys import key_file, public_line, sign_verdicts
from tests.equipment.waiting import until
from tests.trust.test_forgeries import Case

SUMMARY: dict[str, Any] = {"summary": "one two three four five", "content": "c"}


class Desk:
    """A signed team, in this process."""

    def __init__(self, location: str) -> None:
        self.team = open_team(location)
        self.ceo = Caller(self.team, "ceo")
        self.agent = Caller(self.team, "task-manager")

    def row(self, request_id: str) -> RequestRow:
        """How the ledger has the request."""
        return asking.row(self.team, request_id)

    def plan(self) -> str:
        return asking.plan(self.team, "1. Go")


@pytest.fixture
def desk(team: CommandLine) -> Iterator[Desk]:
    sign_verdicts(team.folder)
    desk = Desk(str(team.folder))
    yield desk
    desk.team.close()


@pytest.mark.parametrize("kind", ["ed25519", "ecdsa", "rsa"])
@cases
def test_every_kind_of_key_signs(team: CommandLine, monkeypatch: pytest.MonkeyPatch, kind: str, outside: bool) -> None:
    if outside:
        monkeypatch.setitem(sys.modules, "team_console.store.protocol.ssh_cryptography", None)
    sign_verdicts(team.folder, kind=kind)
    desk = Desk(str(team.folder))
    request = desk.plan()
    requests.approve(desk.ceo, request_id=request)
    verdicts._verified_signatures.clear()
    assert desk.row(request).state is RequestState.APPROVED
    verdict = desk.row(request).verdict
    assert verdict is not None
    other = verdict.with_changes(payload={**verdict.payload, "approve": False})
    assert "does not fit" in objection(desk.team.config(), other)


def test_without_any_means_to_verify_nothing_decides_and_the_next_step_is_told(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = desk.plan()
    requests.approve(desk.ceo, request_id=request)
    verdicts._verified_signatures.clear()
    monkeypatch.setitem(sys.modules, "team_console.store.protocol.ssh_cryptography", None)
    monkeypatch.setenv("PATH", "/nonexistent")
    row = desk.row(request)
    assert (row.state, row.flags) == (RequestState.OPEN, (Flag.FORGED,))
    assert "extra `signatures`" in str(row.forged)
    monkeypatch.undo()
    assert desk.row(request).state is RequestState.APPROVED


def test_a_key_in_the_agent_signs_and_leaves_no_file_behind(
    team: CommandLine, desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = team.folder / "messenger-config.yaml"
    path.write_text("".join(line for line in path.read_text().splitlines(True) if "sign_with" not in line))
    socket = tmp_path / "agent"
    agent = subprocess.Popen(["ssh-agent", "-D", "-a", str(socket)], stdout=subprocess.DEVNULL)
    try:
        until(socket.exists)
        monkeypatch.setenv("SSH_AUTH_SOCK", str(socket))
        monkeypatch.setenv("HOME", str(team.folder))
        request = desk.plan()
        caught = refusal(requests.approve, desk.ceo, request_id=request)
        assert caught.code is Code.SIGNATURE_FAILED
        assert "ssh-add" in caught.hint
        assert desk.row(request).state is RequestState.OPEN
        other = public_line(name="other")
        path.write_text(path.read_text().replace("    - ssh-ed25519", f"    - {other}\n    - ssh-ed25519"))
        subprocess.run(["ssh-add", "-q", str(key_file())], check=True)
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
        (tmp_path / "temporary").mkdir()
        requests.approve(desk.ceo, request_id=request)
        assert desk.row(request).state is RequestState.APPROVED
        assert list((tmp_path / "temporary").iterdir()) == []
    finally:
        agent.terminate()
        agent.wait()


def program(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Put a program of this text in the place of `ssh-keygen`."""
    path = folder / "bin" / "ssh-keygen"
    path.parent.mkdir()
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{path.parent}:{os.environ['PATH']}")


def test_a_program_that_gives_no_signature_is_told_in_words(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = desk.plan()
    program(tmp_path, monkeypatch, "cat >/dev/null; printf '\\377'")
    with pytest.raises(TeamError, match="nothing was signed") as caught:
        requests.approve(desk.ceo, request_id=request)
    assert caught.value.code is Code.SIGNATURE_FAILED


@pytest.mark.parametrize("by_itself", [True, False])
def test_a_key_that_waits_for_its_human_is_given_up_and_keeps_nobody_from_writing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, by_itself: bool
) -> None:
    request, told = desk.plan(), list[str]()
    program(tmp_path, monkeypatch, "exec sleep 60")
    if by_itself:
        monkeypatch.setattr("team_console.store.protocol.ssh_keygen.PATIENCE", 0.2)

    def tell(words: str, give_up: Callable[[], None]) -> None:
        told.append(words)
        sending.send(desk.agent, to="file-manager", **SUMMARY)  # the lock is free while the key is waited for

        def wait() -> None:
            while not ssh_keygen._waiting:
                pass
            give_up()

        if not by_itself:
            threading.Thread(target=wait).start()

    with pytest.raises(TeamError, match="within 0.2 s" if by_itself else "you gave it up") as caught:
        requests.approve(Caller(desk.team, "ceo", tell=tell), request_id=request)
    assert caught.value.code is Code.SIGNATURE_FAILED
    assert told == ["waiting for your key (ceo)"]
    assert desk.row(request).state is RequestState.OPEN


def test_a_request_that_is_rewritten_while_its_verdict_is_signed_gets_none(desk: Desk, team: CommandLine) -> None:
    request, queue = desk.plan(), team.folder / "message-queue.yaml"

    def tell(words: str, give_up: Callable[[], None]) -> None:
        queue.write_text(queue.read_text().replace("1. Go", "1. Delete"))

    caught = refusal(requests.approve, Caller(desk.team, "ceo", tell=tell), request_id=request)
    assert caught.code is Code.INVALID_REQUEST_ID
    assert "changed while it was being signed" in caught.message
    assert [message.type for message in desk.team.snapshot().messages] == ["plan_approval_request"]


@pytest.mark.parametrize("program", [False, True], ids=["library", "ssh-keygen"])
@cases
def test_of_a_hardware_key_counts_what_it_was_touched_for_and_no_other_word(
    key: str, text: str, signature: str, trouble: str, program: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if program:
        needs("ssh-keygen")
        monkeypatch.setitem(sys.modules, "team_console.store.protocol.ssh_cryptography", None)
    monkeypatch.setattr(verdicts, "_verified_signatures", {})
    assert signature_trouble(text, signature, [key]) == trouble


@pytest.mark.slow
def test_each_verdict_is_verified_once_and_again_only_when_a_byte_of_it_is_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = Case(PLACES["yaml"](tmp_path), "permission")
    with closing(case.team):
        another = case.decide(case.ask("ls", by="alice")[0])
        verdict, question, config = case.decide(), case.question, case.team.config()
    real, worked_out = verdicts._fits_text, list[str]()

    def counted(parts: Any, text: str, signature: str) -> bool | None:
        worked_out.append(text)
        return real(parts, text, signature)

    monkeypatch.setattr(verdicts, "_fits_text", counted)
    monkeypatch.setattr(verdicts, "_verified_signatures", {})
    for _ in range(3):
        assert not objection(config, verdict, question)
    assert len(worked_out) == 1
    changed = verdict.with_changes(payload={**verdict.payload, "content": "something else"})
    other = verdict.with_changes(payload={**verdict.payload, SIGNATURE: another.payload[SIGNATURE]})
    for _ in range(3):
        assert "does not fit" in objection(config, changed, question)
        assert "does not fit" in objection(config, other, question)
        assert not objection(config, verdict, question)
    assert len(worked_out) == 3
    human = replace(config.human("ceo"), keys=(public_line(name="mallory"),))
    assert "not this human's" in objection(replace(config, humans={"ceo": human}), verdict, question)
