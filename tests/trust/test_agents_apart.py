"""Agents under another user id (docs/guide/signing.md): they read and put into drop/, and nothing else is in reach."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from team_console.console.cli.main import run
from team_console.store.backends.open import open_team
from team_console.store.service import requests, sending
from team_console.store.service.caller import Caller

from tests.equipment.signing_keys import sign_verdicts
from tests.equipment.yaml_folder import ROOT_ONLY, as_nobody

pytestmark = ROOT_ONLY
PLAN = """message_id: MSG-20261122-fromdrop
type: plan_approval_request
from: bob
to: ceo
payload: {request_id: plan_approval-1@bob@sprint-42, summary: one two three four five, content: 1. Go}
"""
REQUEST = "plan_approval-1@bob@sprint-42"


@pytest.fixture
def folder() -> Iterator[Path]:
    """A team of signed verdicts with the file modes of docs/guide/signing.md."""
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o755)
        made = Path(place) / "team"
        made.mkdir()
        assert run(["init", str(made), "--name", "sprint-42", "--lead", "ceo", "--agent", "bob"]) == 0
        sign_verdicts(made)
        sending.send(Caller(open_team(str(made)), "ceo"), to="bob", summary="one two three four five", content="c")
        (made / "team.key").write_text("k" * 32)
        (made / "drop").mkdir()
        for line in (
            "chmod 755 team && chmod 644 team/*.yaml team/audit.jsonl",
            "chmod 1733 team/drop && chmod 600 team/team.key && chmod go-w team team/messenger-config.yaml",
        ):
            subprocess.run(["sh", "-c", line], cwd=place, check=True)
        yield made


def drop(folder: Path, text: str, name: str = "plan.yaml") -> None:
    """As the agents' user."""
    with as_nobody():
        (folder / "drop" / f".{name}").write_text(text)
        (folder / "drop" / f".{name}").chmod(0o644)
        (folder / "drop" / f".{name}").rename(folder / "drop" / name)


def look(folder: Path, capfd: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    """A verb as the agents' user, once before as root, to import what it needs."""
    run(["--read-only", "-t", str(folder), *words])
    capfd.readouterr()
    with as_nobody():
        status = run(["--read-only", "-t", str(folder), *words])
    return status, capfd.readouterr().out


def test_a_plan_goes_through_drop_and_its_signed_verdict_is_read_and_checked(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    drop(folder, PLAN)
    ceo = Caller(open_team(str(folder)), "ceo")
    sending.send(ceo, to="bob", summary="one two three four five", content="c")
    assert look(folder, capfd, "verdict", REQUEST)[0] != 0
    requests.approve(ceo, request_id=REQUEST, note="go")
    status, text = look(folder, capfd, "verdict", REQUEST, "--json")
    assert (status, json.loads(text)["state"], json.loads(text)["answered_by"]) == (0, "approved", "ceo")
    status, text = look(folder, capfd, "evidence", REQUEST, "--json")
    assert (status, json.loads(text)["proven"]) == (0, True)
