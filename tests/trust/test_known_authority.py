"""A console keeps who decides in a team in its user's own state, and decides nothing where the files say otherwise.

Files, settings and audit trail may all be rewritten by whoever has the same user id; then nothing in them can tell.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from team_console.store.model.errors import Code, TeamError
from team_console.store.service.signing import accept_settings

from tests.equipment.signed_teams import PLACES, TEAM_ID, Database, Files
from tests.equipment.signing_keys import key_file, public_line
from tests.trust.test_forgeries import Case

pytestmark = pytest.mark.slow

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
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Case]:
    """A team in which its lead has signed a verdict."""
    found = Case(PLACES[request.param](tmp_path), "plan")
    found.place.write_settings(TRUE)
    found.reopen()
    found.decide()
    yield found
    found.team.close()


def lose_the_trail(case: Case) -> None:
    """Nothing that is left says what was in force."""
    case.team.close()
    if isinstance(case.place, Files):
        for name in ("audit.jsonl", "message-queue.yaml.lock", "message-queue.yaml.prev"):
            (case.place.folder / name).unlink(missing_ok=True)
        shutil.rmtree(case.place.folder / "archive", ignore_errors=True)
    if isinstance(case.place, Database):
        case.place._run("DELETE FROM team_console_audit")
        case.place._run("DELETE FROM team_console_config WHERE key = 'settings_in_force'")
        case.place._run("UPDATE team_console_state SET audit_seq = 0, audit_hash = ''")


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


def test_no_other_key_confirms_it(case: Case) -> None:
    lose_the_trail(case)
    case.place.write_settings(OTHERWISE["another key in its place"])
    case.reopen()
    case.ask("another", by="alice")
    with pytest.raises(TeamError, match="no key any more that ceo signed with before") as refused:
        accept_settings(case.ceo)
    assert refused.value.code == Code.NOT_PERMITTED
