"""Who may decide in a team: keys that are put on record, authority that is known, and history that decides."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml
from team_console.store.model.errors import Code, Problem, TeamError
from team_console.store.service import inbox
from team_console.store.service.caller import Caller
from team_console.store.service.signing import accept_keys, accept_settings, authority_problems
from team_console.store.views.rows import Flag
from team_console.store.views.status import view_of_team

from tests.equipment.command_line import CommandLine
from tests.equipment.signed_teams import PLACES, TEAM_ID, Files
from tests.equipment.signing_keys import key_file, public_line
from tests.equipment.statements import execute
from tests.trust.test_forgeries import Case, Keep, keep, signed_with

__all__ = ["keep"]
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
def place(request: pytest.FixtureRequest, tmp_path: Path, keep: Keep[Keys]) -> Keys:
    found = keep(Keys(PLACES[getattr(request, "param", "yaml")](tmp_path), "plan"))
    found.decide()
    return found


@pytest.mark.parametrize("is_beside", [False, True], ids=["in its place", "beside it"])
def test_a_key_slipped_into_the_settings_signs_nothing(place: Keys, is_beside: bool) -> None:
    place.edit(*([public_line()] if is_beside else []), public_line(name="other"), sign_with=key_file(name="other"))
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


HEAD = (
    "team: sprint-42\nagents:\n- {name: ceo, role: master}\n- {name: bob, role: slave}\n- {name: alice, role: slave}\n"
)
CEO = f"  ceo:\n    keys:\n    - {public_line()}\n"
MALLORY = f"    - {public_line(name='mallory')}\n"
SIGNS = f"    sign_with: {key_file()}\n"
TRUE = f"{HEAD}lead: ceo\nverdicts: signed\nteam_id: {TEAM_ID}\nhumans:\n{CEO}{SIGNS}"
OTHERWISE = {
    "no signed verdicts": TRUE.replace("verdicts: signed", "verdicts: open"),
    "another team_id": TRUE.replace(TEAM_ID, "f" * 16),
    "another key beside it": f"{HEAD}lead: ceo\nteam_id: {TEAM_ID}\nhumans:\n{CEO}{MALLORY}{SIGNS}",
    "another key in its place": (
        f"{HEAD}lead: ceo\nteam_id: {TEAM_ID}\nhumans:\n  ceo:\n    keys:\n{MALLORY}"
        f"    sign_with: {key_file(name='mallory')}\n"
    ),
    "one more human": f"{TRUE}  user:\n    keys:\n{MALLORY}",
}


@pytest.fixture(params=["yaml", "sqlite"])
def case(request: pytest.FixtureRequest, tmp_path: Path, keep: Keep[Case]) -> Case:
    """A team in which its lead has signed a verdict."""
    found = keep(Case(PLACES[request.param](tmp_path), "plan"))
    found.place.write_settings(TRUE)
    found.reopen()
    found.decide()
    return found


def lose_the_trail(case: Case) -> None:
    """Nothing that is left says what was in force."""
    case.team.close()
    if isinstance(case.place, Files):
        for name in ("audit.jsonl", "message-queue.yaml.lock", "message-queue.yaml.prev"):
            (case.place.folder / name).unlink(missing_ok=True)
        shutil.rmtree(case.place.folder / "archive", ignore_errors=True)
    else:
        execute(
            case.place.location,
            "DELETE FROM team_console_audit",
            "DELETE FROM team_console_config WHERE key = 'settings_in_force'",
            "UPDATE team_console_state SET audit_seq = 0, audit_hash = ''",
        )


@pytest.mark.parametrize("name", OTHERWISE)
def test_after_a_lost_trail_nothing_is_decided_under_another_authority(case: Case, name: str) -> None:
    lose_the_trail(case)
    case.place.write_settings(OTHERWISE[name])
    case.reopen()
    asked, _ = case.ask("another", by="alice")
    with pytest.raises(TeamError, match="since you last signed a verdict") as refused:
        case.decide(asked)
    assert (refused.value.code, "--accept-settings" in refused.value.hint) == (Code.NOT_PERMITTED, True)
    case.place.write_settings(TRUE)
    case.reopen()
    if case.team.config().lost:  # the write of alice put the others on record, and these ask less than they do
        accept_settings(case.ceo)
    case.decide(asked)


@pytest.mark.parametrize("name", OTHERWISE)
def test_another_authority_is_told_before_anybody_decides(case: Case, name: str) -> None:
    """Approved, said every list, of a verdict that nobody had signed."""
    lose_the_trail(case)
    case.place.write_settings(OTHERWISE[name])
    case.reopen()
    (problem,) = authority_problems(case.team, case.team.snapshot())
    assert (problem.code, problem.severity) == ("AUTHORITY_CHANGED", "error")
    assert "since you last signed a verdict in this team" in problem.message
    case.place.write_settings(TRUE)
    case.reopen()
    assert authority_problems(case.team, case.team.snapshot()) == ()


def test_no_other_key_confirms_it(case: Case) -> None:
    lose_the_trail(case)
    case.place.write_settings(OTHERWISE["another key in its place"])
    case.reopen()
    case.ask("another", by="alice")
    with pytest.raises(TeamError, match="no key any more that ceo signed with before") as refused:
        accept_settings(case.ceo)
    assert refused.value.code == Code.NOT_PERMITTED


def test_a_plan_stays_superseded_when_another_program_drops_the_later_one(team: CommandLine) -> None:
    words = ("--as", "task-manager", "plan", "--summary", "one two three four five", "--content")
    earlier, later = (team.ok("", *words, text).out.strip() for text in ("the first", "the second"))
    team.ok("reject", later, "--reason", "never")
    question = next(
        item
        for item in team.ok("history --json").json["messages"]
        if item["type"] == "plan_approval_request" and later in str(item)
    )
    queue = team.folder / "message-queue.yaml"
    records = yaml.safe_load(queue.read_text())
    records["messages"] = [item for item in records["messages"] if item["message_id"] != question["message_id"]]
    replacement = team.folder / "copy.yaml"
    replacement.write_text(yaml.safe_dump(records, sort_keys=False))
    replacement.rename(queue)
    assert team.ok("status --json").json["missing"] == 1
    refused = team("approve", earlier, "--json")
    assert (refused.status, refused.json["superseded_by"]) == (1, later)
    states = {item["request_id"]: item["state"] for item in team.ok("requests --json").json["requests"]}
    assert states == {earlier: "superseded", later: "rejected"}
