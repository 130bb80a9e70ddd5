"""Settings that were in force and are gone, emptied or cut: read, told, nothing of authority written, until healed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path

import pytest
from msgspec import Struct
from team_console.console.cli.main import run
from team_console.store.backends.open import open_team
from team_console.store.contract.team import Team
from team_console.store.model.errors import Code
from team_console.store.service import requests, sending
from team_console.store.service.caller import Caller
from team_console.store.service.maintenance import heal
from team_console.store.service.signing import accept_settings
from team_console.store.settings.parsing import SETTINGS_LOST
from team_console.store.settings.team_config import CONFIG_NAME

from tests.equipment.asking import refusal
from tests.equipment.postgresql import new_location
from tests.equipment.samples import rotated
from tests.equipment.statements import execute
from tests.sql.conftest import SETTINGS

pytestmark = pytest.mark.slow

LOST = ("gone", "emptied", "only a comment", "cut")
NEW = {
    "gone": None,
    "emptied": b"",
    "only a comment": b"# begin\n",
    "cut": SETTINGS.encode()[:-14],
    "no members": b"team: sprint-42\nlead: ceo\n",
    "not YAML": b"team: [\nlead: ceo\n",
}


class Place(Struct):
    """A team of one kind, and how another program changes its settings.

    Attributes:
        file: Where they stand; None in a database of which they are a row.
    """

    location: str
    file: Path | None

    def open(self) -> Team:
        """A process that comes now."""
        return open_team(self.location)

    def settings(self) -> bytes | None:
        """What is there now."""
        if self.file is not None:
            return self.file.read_bytes() if self.file.exists() else None
        rows = execute(self.location, "SELECT value FROM team_console_config WHERE key = 'settings'")
        return str(rows[0][0]).encode() if rows else None

    def lose(self, text: bytes | None) -> None:
        """Put `text` there, None for nothing."""
        if self.file is not None and text is None:
            self.file.unlink()
        elif self.file is not None:
            self.file.write_bytes(text or b"")
        elif text is None:
            execute(self.location, "DELETE FROM team_console_config WHERE key = 'settings'")
        else:
            change = "UPDATE team_console_config SET value = :text WHERE key = 'settings'"
            execute(self.location, change, text=text.decode())


_KINDS = ("yaml", "sqlite", "sqlite with a file", "postgresql")


def each_way(ways: Iterable[str], kinds: int = 2) -> pytest.MarkDecorator:
    """Every way to lose the settings, each in as many kinds of stores."""
    return pytest.mark.parametrize(("how", "place"), rotated(ways, _KINDS, kinds), indirect=["place"])


@pytest.fixture(params=_KINDS)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """A team whose settings were in force: it has a plan that waits."""
    kind = str(request.param)
    if kind == "yaml":
        made = Place(str(tmp_path), tmp_path / CONFIG_NAME)
        (tmp_path / "message-queue.yaml").write_text("messages: []\n")
        (tmp_path / CONFIG_NAME).write_text(SETTINGS)
    else:
        from team_console.store.backends.sql.open import create_database

        at = new_location(kind, tmp_path)
        create_database(at, SETTINGS)
        made = Place(at, None)
        if kind == "sqlite with a file":
            execute(at, "DELETE FROM team_console_config WHERE key = 'settings'")
            made.file = tmp_path / CONFIG_NAME
            made.file.write_text(SETTINGS)
    with closing(made.open()) as team:
        requests.submit_plan(Caller(team, "architect"), content="1. Build it", summary="one two three four five")
    return made


@pytest.fixture
def says(capfd: pytest.CaptureFixture[str], place: Place) -> Callable[..., tuple[int, str]]:
    """Runs a verb on the team."""

    def say(*words: str) -> tuple[int, str]:
        status = run(["-t", place.location, *words])
        printed = capfd.readouterr()
        return status, printed.out + printed.err

    return say


Says = Callable[..., tuple[int, str]]


@each_way([*LOST, "no members", "not YAML"])
def test_nothing_that_needs_authority_is_written_until_they_are_healed(place: Place, how: str) -> None:
    place.lose(NEW[how])
    with closing(place.open()) as team:
        request_id = team.snapshot().messages[0].request_id or ""
        lead = Caller(team, "ceo")
        acts: tuple[Callable[[], object], ...] = (
            lambda: requests.approve(lead, request_id=request_id),
            lambda: requests.reject(lead, request_id=request_id, reason="no"),
            lambda: requests.request_shutdown(lead, agent="architect", reason="done"),
            lambda: sending.broadcast(lead, summary="one two three four five", content="c"),
            lambda: sending.send(lead, to="all", summary="one two three four five", content="c"),
            lambda: sending.send(Caller(team, "evil"), to="architect", summary="one two three four five", content="c"),
        )
        before = len(team.snapshot().messages)
        for act in acts:
            caught = refusal(act)
            assert caught.code in (Code.NOT_PERMITTED, Code.AGENT_NOT_FOUND), caught
        assert len(team.snapshot().messages) == before
        sending.send(Caller(team, "architect"), to="ceo", summary="one two three four five", content="c")
        (healed,) = heal(lead)
        assert healed.code == "SETTINGS_RESTORED"
        assert place.settings() == SETTINGS.encode()
        assert [problem.code for problem in team.snapshot().problems] == []
        requests.approve(lead, request_id=request_id)
    with closing(place.open()) as team:
        assert (team.config().lead, team.config().lost, team.config().declared) == ("ceo", "", True)


@each_way(["gone", "emptied", "no members"])
def test_lost_settings_can_be_confirmed_as_they_are(place: Place, says: Says, how: str) -> None:
    with closing(place.open()) as watcher:
        assert watcher.snapshot().problems == ()
        place.lose(NEW[how])
        assert [problem.code for problem in watcher.snapshot().problems] == [SETTINGS_LOST]
        text = says("--as", "ceo", "check", "--accept-settings", "--json")[1]
        assert [load["code"] for load in json.loads(text)["healed"]] == ["SETTINGS_ACCEPTED"]
        assert (place.settings(), watcher.snapshot().problems) == (NEW[how], ())
    assert json.loads(says("status", "--json")[1])["condition"] == "ok"
    with closing(place.open()) as team:
        assert (team.config().declared, accept_settings(Caller(team, "ceo"))) == (False, ())
