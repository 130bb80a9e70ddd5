"""Forgeries by whoever may write everything of a team but has no key of its humans: by its settings, by its trail.
Each is refused or told, and decides nothing.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from team_console.store.model.clock import to_text
from team_console.store.model.errors import TeamError
from team_console.store.model.message import from_record
from team_console.store.protocol.ssh_keygen import ssh_signature
from team_console.store.protocol.verdicts import (
    NAMESPACE,
    REQUEST_DIGEST,
    SETTINGS_NAMESPACE,
    SIGNATURE,
    confirmation_text,
    digest_of,
    statement,
)
from team_console.store.service import sending
from team_console.store.settings.team_config import Human
from team_console.store.views.rows import Flag
from team_console.store.views.verdicts import verdict_of

from tests.equipment.command_line import CommandLine
from tests.equipment.signed_teams import PLACES, TEAM_ID, Database, Files, Place
from tests.equipment.signing_keys import key_file, public_line, settings_of_signed_team
from tests.equipment.teams import FakeClock
from tests.trust.test_forgeries import Case, Keep, keep, signed_with

__all__ = ["keep"]
pytestmark = pytest.mark.slow

Forge = Callable[[Case], AbstractContextManager[None]]
_TEAM = f"team_id: {TEAM_ID}\n"
_MALLORY = f"    keys:\n    - {public_line(name='mallory')}\n"
_TELLS = {"SETTINGS_LOST"}


def _unsigned(case: Case) -> None:
    case.place.append(case.forged())


def _with_settings(
    old: str, new: str, forge: Callable[[Case], None], *, rendered: tuple[str, str] | None = None
) -> Forge:
    """`rendered` is the same change where settings stand as we write them, in databases."""

    def forged(case: Case) -> AbstractContextManager[None]:
        forge(case)
        return case.place.settings(*(rendered if rendered and isinstance(case.place, Database) else (old, new)))

    return forged


def _by_mallory(name: str) -> Callable[[Case], None]:
    def forged(case: Case) -> None:
        record = case.forged(**{"from": name})
        case.place.append(signed_with(record, key_file(name="mallory"), question=case.question))

    return forged


def _for_another_team(case: Case) -> None:
    """What the human really signed, for the same words in another team."""
    case.place.append(signed_with(case.forged(), key_file(), question=case.question, team_id="ffffffffffffffff"))


def _with_the_trail(case: Case) -> None:
    """As if the desk had written it long ago; the trail's chain is no secret."""
    case.place.trail(case.forged())
    case.place.append(case.forged())


def _by_a_certificate(case: Case) -> None:
    """Signed by a key that another one certified; `ssh-keygen` would take both for the key of the human."""
    record = case.forged()
    record["payload"][REQUEST_DIGEST] = digest_of(case.question)
    command = ["ssh-keygen", "-q", "-Y", "sign", "-n", NAMESPACE, "-f", str(_certificate())]
    text = statement(TEAM_ID, from_record(record)).encode()
    done = subprocess.run(command, input=text, capture_output=True, check=True)
    case.place.append({**record, "payload": {**record["payload"], SIGNATURE: done.stdout.decode()}})


def _certificate() -> Path:
    key = key_file(name="mallory")
    certificate = key.with_name(f"{key.name}-cert.pub")
    if not certificate.exists():
        command = ["ssh-keygen", "-q", "-s", str(key), "-I", "ceo", "-n", "ceo", str(key.with_suffix(".pub"))]
        subprocess.run(command, check=True)
    return certificate


SETTINGS: Mapping[str, Forge] = {
    "verdicts: open": _with_settings(_TEAM, f"{_TEAM}verdicts: open\n", _unsigned),
    "an old copy without humans": _with_settings(
        settings_of_signed_team(TEAM_ID), _TEAM, _unsigned, rendered=("humans:", "people:")
    ),
    "another lead with a key": _with_settings(
        "lead: ceo", f"humans: {{mallory: {{keys: ['{public_line(name='mallory')}']}}}}\nlead: mallory",
        _by_mallory("mallory"),
    ),
    "one more human": _with_settings("humans:\n", f"humans:\n  user:\n{_MALLORY}", _by_mallory("user")),
    "signed since later": _with_settings(_TEAM, f"{_TEAM}signed_since: 2099-01-01T00:00:00Z\n", _with_the_trail),
    "another team's id": _with_settings(_TEAM, "team_id: ffffffffffffffff\n", _for_another_team),
    "a certificate": _with_settings(
        "keys:\n", f"keys:\n    - {_certificate().read_text().strip()}\n", _by_a_certificate
    ),
}  # fmt: skip


@pytest.fixture
def make_case(tmp_path: Path, keep: Keep[Case]) -> Callable[[str], Case]:
    """Makes a case of a plan in a store."""
    return lambda store: keep(Case(PLACES[store](tmp_path), "plan"))


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("store", ["yaml", "sqlite"])
def test_no_way_around_the_key_decides(make_case: Callable[[str], Case], tmp_path: Path, store: str, name: str) -> None:
    case = make_case(store)
    with SETTINGS[name](case):
        case.reopen()
        row = case.row()
        assert row.is_open, (row.state, row.flags)
        assert verdict_of(case.team, case.request, me="bob").state == "open"
        codes = set(
            re.findall(r'"code": ?"(\w+)"', CommandLine(tmp_path)("-t", case.place.location, "check", "--json").out)
        )
        assert codes, "nobody is told"
        assert codes >= _TELLS or name == "a certificate"


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


def test_a_team_that_gave_up_signing_is_told_so_for_good(make_case: Callable[[str], Case], tmp_path: Path) -> None:
    case = make_case("yaml")
    case.decide()
    with case.place.settings(_TEAM, f"{_TEAM}verdicts: open\n"):
        check = "-t", case.place.location, "--as", "ceo", "check"
        CommandLine(tmp_path)(*check, "--accept-settings")
        assert "SIGNING_GIVEN_UP" in CommandLine(tmp_path)(*check).out


def test_only_a_human_gives_up_signing(make_case: Callable[[str], Case], tmp_path: Path) -> None:
    """An agent that may write the settings would else confirm by itself that verdicts need no signature any more."""
    case = make_case("yaml")
    case.decide()
    weaker = f"{_TEAM}verdicts: open\nhumans:\n  task-manager: {{}}\n"
    with case.place.settings(_TEAM, weaker):
        check = "-t", case.place.location, "check", "--accept-settings", "--json"
        for words, env in ((("--as", "task-manager"), {}), ((), {"TEAM_CONSOLE_AS": "task-manager"})):
            refused = CommandLine(tmp_path)(*words, *check, env=env)
            assert (refused.status, refused.json["error"]) == (1, "NOT_PERMITTED")
        found = CommandLine(tmp_path)("-t", case.place.location, "check", "--json").json["findings"]
        assert {"SETTINGS_LOST"} <= {item["code"] for item in found}
        assert "SIGNING_GIVEN_UP" not in {item["code"] for item in found}


def _codes(team: CommandLine, case: Case) -> set[str]:
    return {item["code"] for item in team("-t", case.place.location, "check", "--json").json["findings"]}


@pytest.mark.parametrize("store", ["yaml", "sqlite"])
def test_settings_in_which_another_leads_are_confirmed_with_the_key_of_the_human_and_not_without(
    make_case: Callable[[str], Case], tmp_path: Path, store: str
) -> None:
    """`--as ceo` is no proof: whoever could confirm them by it could decide anything as the new lead."""
    case, team = make_case(store), CommandLine(tmp_path)
    case.decide()
    accept = "-t", case.place.location, "--as", "ceo", "check", "--accept-settings", "--json"
    with case.place.settings(str(key_file()), "/nowhere/key"):
        case.ask()  # a write, after which these are in force
        with case.place.settings("lead: ceo", "lead: bob"):
            refused = team(*accept, env={"HOME": str(tmp_path), "SSH_AUTH_SOCK": ""})
            assert (refused.status, refused.json["error"]) == (1, "SIGNATURE_FAILED")
            assert "SETTINGS_LOST" in _codes(team, case)
    case.ask()
    with case.place.settings("lead: ceo", "lead: bob"):
        assert [item["code"] for item in team(*accept).json["healed"]] == ["SETTINGS_ACCEPTED"]
        assert not _codes(team, case) & {"SETTINGS_LOST", "SETTINGS_TAKEN_UNSIGNED"}


def test_a_key_put_there_for_it_confirms_no_settings(make_case: Callable[[str], Case], tmp_path: Path) -> None:
    case, team = make_case("yaml"), CommandLine(tmp_path)
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


def test_a_signature_confirms_the_settings_that_were_looked_at(make_case: Callable[[str], Case]) -> None:
    case = make_case("yaml")
    case.decide()
    with case.place.settings("lead: ceo", "lead: bob"):
        signed = {"sha256": case.team.config().unconfirmed}
    with case.place.settings("lead: ceo", "lead: alice"), pytest.raises(TeamError) as refused:
        case.team.accept_settings(actor="ceo", wait=5.0, signed=signed)
    assert "changed while they were being confirmed" in refused.value.message


@pytest.mark.parametrize("harm", ["gone with the lock file", "gone with all but the lock file", "cut short"])
def test_settings_that_came_with_the_loss_of_the_trail_are_told_for_good(
    make_case: Callable[[str], Case], tmp_path: Path, harm: str
) -> None:
    """Without the trail nobody knows which were in force, and the first write begins it anew."""
    case, team = make_case("yaml"), CommandLine(tmp_path)
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
