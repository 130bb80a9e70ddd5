"""Forgeries by whoever may write everything of a team but has no key of its humans: by its settings, by its trail.
Each is refused or told, and decides nothing.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from team_console.store.model.clock import to_text
from team_console.store.model.errors import TeamError
from team_console.store.protocol.keys_on_record import SETTINGS_NAMESPACE, confirmation_text
from team_console.store.protocol.ssh_keygen import ssh_signature
from team_console.store.service import sending
from team_console.store.settings.team_config import Human
from team_console.store.views.rows import Flag
from team_console.store.views.verdicts import verdict_of

from tests.equipment.command_line import CommandLine
from tests.equipment.signed_teams import TEAM_ID, Database, Files, Place
from tests.equipment.signing_keys import key_file, public_line, settings_of_signed_team
from tests.equipment.teams import FakeClock
from tests.trust.test_forgeries import Case, keep, make_case

__all__ = ["keep", "make_case"]
pytestmark = pytest.mark.slow


@pytest.mark.parametrize("store", ["yaml", "sqlite"])
def test_an_old_plan_is_not_approved_by_a_line_once_keys_are_in_force(tmp_path: Path, store: str) -> None:
    """Before the first signed verdict: whoever adds a line to the trail says that it is from before the keys."""
    place: Place = Files(tmp_path / "team") if store == "yaml" else Database(str(tmp_path / "t.db"))
    agents = ("--agent", "bob:slave", "--agent", "alice:slave")
    CommandLine(tmp_path).ok("init", place.location, "--name", "sprint-42", "--lead", "ceo", *agents)
    clock = FakeClock()
    case = Case(place, "plan", clock)
    request = case.request
    clock.advance(60)
    head = "team: sprint-42\nlead: ceo\nagents:\n- {name: bob, role: slave}\n- {name: alice, role: slave}\n"
    case.place.write_settings(f"{head}signed_since: {to_text(clock())}\n{settings_of_signed_team(TEAM_ID)}")
    case.reopen()
    sending.send(case.bob, to="ceo", summary="one two three four five", content="c")
    record = case.forged(payload={"request_id": request})
    case.place.trail(record)
    case.place.append(record)
    case.reopen()
    row = verdict_of(case.team, request, me="ceo")
    assert row.verdict is None
    assert Flag.FORGED in row.flags
    case.team.close()


def _codes(team: CommandLine, case: Case) -> set[str]:
    return {item["code"] for item in team("-t", case.place.location, "check", "--json").json["findings"]}


def test_a_key_put_there_for_it_confirms_no_settings(make_case: Callable[[], Case], tmp_path: Path) -> None:
    case, team = make_case(), CommandLine(tmp_path)
    case.decide()
    accept = "-t", case.place.location, "--as", "ceo", "check", "--accept-settings", "--json"
    with (
        case.place.settings(public_line(), public_line(name="mallory")),
        case.place.settings(f"sign_with: {key_file()}", f"sign_with: {key_file(name='mallory')}"),
    ):
        case.ask()  # a write, after which these are in force
        with case.place.settings("lead: ceo", "lead: bob"):
            assert team(*accept).json["error"] == "KEY_NOT_ON_RECORD"
            assert "SETTINGS_LOST" in _codes(team, case)
            # Whoever adds the line without asking the verb is told for good.
            config = case.team.config()
            text = confirmation_text(config.team_id, "ceo", config.unconfirmed)
            human = Human("ceo", (public_line(name="mallory"),), str(key_file(name="mallory")))
            signature = ssh_signature(text, human, namespace=SETTINGS_NAMESPACE, on_terminal=False)
            facts = {"human": "ceo", "team_id": config.team_id, "sha256": config.unconfirmed}
            case.team.accept_settings(
                actor="ceo", wait=5.0, signed={**facts, "by": human.keys[0], "signature": signature}
            )
    assert "SETTINGS_TAKEN_UNSIGNED" in _codes(team, case)


def test_a_signature_confirms_the_settings_that_were_looked_at(make_case: Callable[[], Case]) -> None:
    case = make_case()
    case.decide()
    with case.place.settings("lead: ceo", "lead: bob"):
        signed = {"sha256": case.team.config().unconfirmed}
    with case.place.settings("lead: ceo", "lead: alice"), pytest.raises(TeamError) as refused:
        case.team.accept_settings(actor="ceo", wait=5.0, signed=signed)
    assert "changed while they were being confirmed" in refused.value.message


@pytest.mark.parametrize("harm", ["gone with the lock file", "gone with all but the lock file", "cut short"])
def test_settings_that_came_with_the_loss_of_the_trail_are_told_for_good(
    make_case: Callable[[], Case], tmp_path: Path, harm: str
) -> None:
    """Without the trail nobody knows which were in force, and the first write begins it anew."""
    case, team = make_case(), CommandLine(tmp_path)
    assert isinstance(case.place, Files)
    if harm != "gone with all but the lock file":  # a verdict in the queue shows that there was a trail
        case.decide()
    case.ask()
    trail = case.place.folder / "audit.jsonl"
    first, *_ = trail.read_bytes().splitlines(keepends=True)
    trail.unlink()
    if harm == "gone with the lock file":
        (case.place.folder / "message-queue.yaml.lock").unlink()
    if harm == "gone with all but the lock file":
        (case.place.folder / "message-queue.yaml.prev").unlink()
        shutil.rmtree(case.place.folder / "archive", ignore_errors=True)
    if harm == "cut short":
        trail.write_bytes(first)
    with case.place.settings("lead: ceo", "lead: bob"):
        case.reopen()
        with case.team.transaction(actor="bob", action="nothing", wait=5.0):
            pass  # a turn that writes nothing
        for _ in range(3):
            case.ask(by="alice")
        assert "AUDIT_LOST" in _codes(team, case)
