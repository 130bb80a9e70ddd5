"""A key that somebody put into the settings is told until it is taken on record, which a known key has to sign."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from team_console.store.backends.open import open_team
from team_console.store.contract.team import Team
from team_console.store.model.errors import Code, Problem, TeamError
from team_console.store.service import requests
from team_console.store.service.caller import Caller
from team_console.store.service.signing import accept_keys
from team_console.store.views.status import view_of_team

from tests.conftest import CommandLine
from tests.trust.keys_of_humans import key_file, public_line, settings_of_signed_team

pytestmark = pytest.mark.slow

CODES = ("KEY_NOT_ON_RECORD", "KEY_TAKEN_UNSIGNED")
IN_DATABASE = pytest.mark.parametrize("place", ["sqlite"], indirect=True)
SETTINGS = "team: sprint\nlead: ceo\nagents:\n- name: task-manager\n"


class Place:
    """A team with its settings, a file or a database, as whoever has our user id finds it."""

    def __init__(self, location: str, settings: Path) -> None:
        self.location, self.settings = location, settings

    @property
    def team(self) -> Team:
        """The team, opened anew each time."""
        return open_team(self.location)

    def decide(self) -> None:
        """The human signs a verdict."""
        team = self.team
        request = requests.submit_plan(Caller(team, "task-manager"), content="1. Go").request_id or ""
        requests.approve(Caller(team, "ceo"), request_id=request)
        team.close()

    def edit(self, *keys: str, sign_with: Path | None = None) -> None:
        """Somebody puts these keys of `ceo` into the settings."""
        listed = "".join(f"    - {key}\n" for key in keys)
        file = f"    sign_with: {sign_with}\n" if sign_with else ""
        text = f"{SETTINGS}verdicts: signed\nteam_id: 0123456789abcdef\nhumans:\n  ceo:\n    keys:\n{listed}{file}"
        if self.settings.suffix == ".yaml":
            self.settings.write_text(text)
            return
        with closing(sqlite3.connect(self.settings)) as database:
            database.execute("UPDATE team_console_config SET value = ? WHERE key = 'settings'", (text,))
            database.commit()

    def told(self) -> list[Problem]:
        """The findings about keys, as console and `check` have them."""
        team = self.team
        view = view_of_team(team, team.snapshot(), me="ceo")
        team.close()
        return [finding for finding in view.findings if finding.code in CODES]

    def accept(self, actor: str = "ceo") -> list[str]:
        """What `check --accept-keys` says that it did."""
        with closing(self.team) as team:
            return [problem.message for problem in accept_keys(Caller(team, actor))]


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """A team of signed verdicts whose lead has signed one."""
    folder = tmp_path / "office"
    folder.mkdir()
    settings = folder / "messenger-config.yaml"
    settings.write_text(SETTINGS + settings_of_signed_team())
    found = Place(str(folder), settings)
    if hasattr(request, "param"):
        CommandLine(folder).ok("migrate", ".", "team.db")
        found = Place(str(folder / "team.db"), folder / "team.db")
    found.decide()
    return found


def test_a_foreign_key_that_decides_is_told_though_it_signs(place: Place) -> None:
    place.edit(public_line(name="other"), sign_with=key_file(name="other"))
    place.decide()
    (told,) = place.told()
    assert told.code == "KEY_NOT_ON_RECORD"


@IN_DATABASE
def test_a_key_taken_on_record_in_place_of_a_lost_one_stays_among_the_findings(place: Place) -> None:
    place.edit(public_line(name="other"), sign_with=key_file(name="other"))
    (done,) = place.accept()
    assert "without a signature" in done
    (told,) = place.told()
    assert (told.code, told.severity) == ("KEY_TAKEN_UNSIGNED", "warning")


def test_a_key_that_is_not_known_takes_none_on_record_while_a_known_one_is_there(place: Place) -> None:
    place.edit(public_line(), public_line(name="other"), sign_with=key_file(name="other"))
    with pytest.raises(Exception, match=r"none of humans\.ceo\.keys"):
        place.accept()
    assert [told.code for told in place.told()] == ["KEY_NOT_ON_RECORD"]


def test_a_key_without_a_voucher_vouches_for_no_other(place: Place) -> None:
    place.edit(public_line(name="other"), sign_with=key_file(name="other"))
    place.accept()
    place.edit(public_line(name="other"), public_line(name="third"), sign_with=key_file(name="other"))
    place.accept()
    place.edit(public_line(name="third"), sign_with=key_file(name="third"))
    (told,) = place.told()
    assert told.code == "KEY_TAKEN_UNSIGNED"


def test_an_agent_takes_no_key_of_a_human_on_record(place: Place) -> None:
    place.edit(public_line(name="other"), sign_with=key_file(name="other"))
    with pytest.raises(TeamError, match="task-manager cannot take a key of ceo on record") as refused:
        place.accept("task-manager")
    assert refused.value.code == Code.NOT_PERMITTED
    assert [told.code for told in place.told()] == ["KEY_NOT_ON_RECORD"]


@IN_DATABASE
def test_the_verb_takes_it_on_record(place: Place) -> None:
    assert (place.told(), place.accept()) == ([], [])
    place.edit(public_line(), public_line(name="other"), sign_with=key_file())
    office = CommandLine(place.settings.parent)
    (told,) = place.told()
    assert (told.code, told.place) == ("KEY_NOT_ON_RECORD", "humans.ceo.keys")
    assert "KEY_NOT_ON_RECORD" in office("-t", place.location, "check").out
    assert "on record for ceo" in office.ok("-t", place.location, "--as", "ceo", "check", "--accept-keys").out
    assert "KEY_NOT_ON_RECORD" not in office("-t", place.location, "check").out
