"""A key that somebody put into the settings is told until it is taken on record, which a known key has to sign."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from team_console.store.model.errors import Code, Problem, TeamError
from team_console.store.service import inbox
from team_console.store.service.caller import Caller
from team_console.store.service.signing import accept_keys
from team_console.store.views.rows import Flag
from team_console.store.views.status import view_of_team

from tests.equipment.command_line import CommandLine
from tests.equipment.signed_teams import PLACES, TEAM_ID
from tests.equipment.signing_keys import key_file, public_line
from tests.trust.test_forgeries import Case, signed_with

pytestmark = pytest.mark.slow

CODES = ("KEY_NOT_ON_RECORD", "KEY_TAKEN_UNSIGNED")
IN_DATABASE = pytest.mark.parametrize("place", ["sqlite"], indirect=True)
SETTINGS = "team: sprint-42\nlead: ceo\nagents:\n- {name: bob, role: slave}\n- {name: alice, role: slave}\n"


class Keys(Case):
    """A team of signed verdicts whose lead has signed one, as whoever has our user id finds it."""

    def edit(self, *keys: str, sign_with: Path) -> None:
        """Somebody puts these keys of `ceo` into the settings."""
        listed = "".join(f"    - {key}\n" for key in keys)
        human = f"humans:\n  ceo:\n    keys:\n{listed}    sign_with: {sign_with}\n"
        self.place.write_settings(f"{SETTINGS}verdicts: signed\nteam_id: {TEAM_ID}\n{human}")
        self.reopen()

    def told(self) -> list[Problem]:
        """The findings about keys, as console and `check` have them."""
        view = view_of_team(self.team, self.team.snapshot(), me="ceo")
        return [finding for finding in view.findings if finding.code in CODES]

    def accept(self, actor: str = "ceo") -> list[str]:
        """What `check --accept-keys` says that it did."""
        return [problem.message for problem in accept_keys(Caller(self.team, actor))]


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Keys]:
    found = Keys(PLACES[getattr(request, "param", "yaml")](tmp_path), "plan")
    found.decide()
    yield found
    found.team.close()


@pytest.mark.parametrize("keys", [(), (public_line(),)], ids=["in its place", "beside it"])
def test_a_key_slipped_into_the_settings_signs_nothing(place: Keys, keys: tuple[str, ...]) -> None:
    place.edit(*keys, public_line(name="other"), sign_with=key_file(name="other"))
    asked, _ = place.ask()
    with pytest.raises(TeamError, match="nothing was written") as refused:
        place.decide(asked)
    assert refused.value.code in (Code.KEY_NOT_ON_RECORD, Code.SIGNATURE_FAILED)
    assert "--accept-keys" in refused.value.hint
    (told,) = place.told()
    assert told.code == "KEY_NOT_ON_RECORD"


@pytest.mark.parametrize("place", ["yaml", "sqlite"], indirect=True)
def test_what_such_a_key_signed_decides_nothing_until_it_is_on_record(place: Keys, tmp_path: Path) -> None:
    """Every face says unverified: requests, verdict, decisions, evidence, mail, findings."""
    place.edit(public_line(), public_line(name="other"), sign_with=key_file())
    place.request, place.question = place.ask()
    record = place.forged()
    place.place.append(signed_with(record, key_file(name="other"), question=place.question))
    place.reopen()
    row = place.row()
    assert (row.is_open, Flag.UNVERIFIED in row.flags, Flag.FORGED in row.flags) == (True, True, False)
    office, at = CommandLine(tmp_path), ("-t", place.place.location)
    assert office(*at, "verdict", place.request, "--json").json["state"] == "open"
    decided = {item["request_id"]: item for item in office.ok(*at, "decisions", "--json").json["decisions"]}
    assert place.request not in decided
    assert "not on record" in office(*at, "evidence", place.request).out
    (mail,) = [
        item
        for item in inbox.receive(place.bob, agent="bob", mark_read=False).messages
        if item.message_id == record["message_id"]
    ]
    assert mail.record["trust"] == "unverified"
    listed = office(*at, "check", "--json").json["findings"]
    assert {"KEY_NOT_ON_RECORD", "UNVERIFIED_VERDICT"} <= {item["code"] for item in listed}
    place.accept()
    assert place.row().is_approved


@IN_DATABASE
def test_a_key_taken_on_record_in_place_of_a_lost_one_stays_among_the_findings(place: Keys) -> None:
    place.edit(public_line(name="other"), sign_with=key_file(name="other"))
    (done,) = place.accept()
    assert "without a signature" in done
    (told,) = place.told()
    assert (told.code, told.severity) == ("KEY_TAKEN_UNSIGNED", "warning")


def test_a_key_that_is_not_known_takes_none_on_record_while_a_known_one_is_there(place: Keys) -> None:
    place.edit(public_line(), public_line(name="other"), sign_with=key_file(name="other"))
    with pytest.raises(Exception, match=r"none of humans\.ceo\.keys"):
        place.accept()
    assert [told.code for told in place.told()] == ["KEY_NOT_ON_RECORD"]


def test_a_key_without_a_voucher_vouches_for_no_other(place: Keys) -> None:
    place.edit(public_line(name="other"), sign_with=key_file(name="other"))
    place.accept()
    place.edit(public_line(name="other"), public_line(name="third"), sign_with=key_file(name="other"))
    place.accept()
    place.edit(public_line(name="third"), sign_with=key_file(name="third"))
    (told,) = place.told()
    assert told.code == "KEY_TAKEN_UNSIGNED"


def test_an_agent_takes_no_key_of_a_human_on_record(place: Keys) -> None:
    place.edit(public_line(name="other"), sign_with=key_file(name="other"))
    with pytest.raises(TeamError, match="bob cannot take a key of ceo on record") as refused:
        place.accept("bob")
    assert refused.value.code == Code.NOT_PERMITTED
    assert [told.code for told in place.told()] == ["KEY_NOT_ON_RECORD"]
