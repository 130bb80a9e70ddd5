"""Under another user id a healthy team is healthy, what is private is told, and `drop/` is the only way in."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from team_console.console.cli.main import run
from team_console.store.backends.open import open_team
from team_console.store.service.caller import Caller
from team_console.store.service.requests import approve
from team_console.store.service.sending import send

from tests.equipment.damage import healthy_team
from tests.equipment.signing_keys import sign_verdicts
from tests.equipment.yaml_folder import ROOT_ONLY, as_nobody

pytestmark = [ROOT_ONLY, pytest.mark.slow]
Looks = Callable[..., tuple[int, str]]
REQUEST = "plan_approval-1@task-manager@sprint-42"
DROPPED = f"""message_id: MSG-20261122-fromdrop
type: plan_approval_request
from: task-manager
to: ceo
payload: {{request_id: {REQUEST}, summary: one two three four five, content: 1. Go}}
"""
MODES = """
chmod 755 team && chmod 644 team/*.yaml team/audit.jsonl
mkdir team/drop && chmod 1733 team/drop && chmod 600 team/team.key
chmod go-w team team/messenger-config.yaml
"""
"""As docs/guide/signing.md has them for agents under a user id of their own."""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A team as its owner made it, in a folder that others may enter."""
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o755)
        made = healthy_team(Path(place) / "team")
        made.chmod(0o755)
        yield made


@pytest.fixture
def looks(folder: Path, capfd: pytest.CaptureFixture[str]) -> Looks:
    """Runs a verb as another user: status and everything it printed; once before as root, to import what it needs."""

    def look(*words: str) -> tuple[int, str]:
        run(["-t", str(folder), "--read-only", *words])
        capfd.readouterr()
        with as_nobody():
            status = run(["-t", str(folder), "--read-only", *words])
        printed = capfd.readouterr()
        return status, printed.out + printed.err

    return look


@pytest.mark.parametrize("name", ["audit.jsonl", "archive"])
def test_what_the_user_itself_may_not_read_of_its_own_team_is_an_error(folder: Path, looks: Looks, name: str) -> None:
    for path in (folder, *folder.rglob("*")):
        os.chown(path, 65534, 65534)
    (folder / name).chmod(0)
    status, text = looks("check", "--json")
    codes = [load["code"] for load in json.loads(text)["findings"]]
    assert (status, "UNUSABLE_FILE" in codes or "UNREADABLE_ARCHIVE" in codes) == (1, True)


def test_a_verdict_on_a_trail_that_is_private_is_not_called_unverified(folder: Path, looks: Looks) -> None:
    """Of a trail that may not be read nothing can be said, so nothing is said against anybody."""
    ceo = Caller(open_team(str(folder)), "ceo")
    (plan,) = [item for item in ceo.team.snapshot().messages if item.type == "plan_approval_request"]
    approve(ceo, request_id=plan.request_id or "")
    status, text = looks("check", "--json")
    assert (status, {load["code"] for load in json.loads(text)["findings"]}) == (0, {"KEPT_PRIVATE"})
    _, text = looks("requests", "--json")
    assert [request["flags"] for request in json.loads(text)["requests"]] == [[]]


def test_a_plan_goes_through_drop_and_its_signed_verdict_is_read_and_checked(folder: Path, looks: Looks) -> None:
    sign_verdicts(folder)
    (folder / "team.key").write_text("k" * 32)
    ceo = Caller(open_team(str(folder)), "ceo")
    send(ceo, to="task-manager", summary="one two three four five", content="c")
    subprocess.run(["sh", "-ec", MODES], cwd=folder.parent, check=True)
    with as_nobody():
        (folder / "drop" / ".plan.yaml").write_text(DROPPED)
        (folder / "drop" / ".plan.yaml").chmod(0o644)
        (folder / "drop" / ".plan.yaml").rename(folder / "drop" / "plan.yaml")
    send(ceo, to="task-manager", summary="one two three four five", content="c")
    assert looks("verdict", REQUEST)[0] != 0
    approve(ceo, request_id=REQUEST, note="go")
    status, text = looks("verdict", REQUEST, "--json")
    assert (status, json.loads(text)["state"], json.loads(text)["answered_by"]) == (0, "approved", "ceo")
    status, text = looks("evidence", REQUEST, "--json")
    assert (status, json.loads(text)["proven"]) == (0, True)
