"""A watcher under another user id sees a healthy team as healthy, and harm as harm; what is private it is told."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from team_console.console.cli.main import run
from team_console.store.backends.open import open_team
from team_console.store.service.caller import Caller
from team_console.store.service.requests import approve

from tests.equipment.damage import healthy_team
from tests.equipment.yaml_folder import ROOT_ONLY, as_nobody

pytestmark = [ROOT_ONLY, pytest.mark.slow]
Looks = Callable[..., tuple[int, str]]


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


@pytest.fixture
def decided(folder: Path) -> Path:
    """The team once its lead answered a plan."""
    for request in open_team(str(folder)).snapshot().messages:
        if request.type == "plan_approval_request" and request.request_id is not None:
            approve(Caller(open_team(str(folder)), "ceo"), request_id=request.request_id)
    return folder


@pytest.mark.usefixtures("decided")
def test_a_verdict_on_a_trail_that_is_private_is_not_called_unverified(looks: Looks) -> None:
    """Of a trail that may not be read nothing can be said, so nothing is said against anybody."""
    status, text = looks("check", "--json")
    assert (status, {load["code"] for load in json.loads(text)["findings"]}) == (0, {"KEPT_PRIVATE"})
    _, text = looks("requests", "--json")
    assert [request["flags"] for request in json.loads(text)["requests"]] == [[]]
