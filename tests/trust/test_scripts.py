"""Attacks on teams of signed verdicts, told in `scripts/`: what somebody without a key writes, and what is said then.

A script is one of `tests/equipment/scripts.py`, on a team of `ceo`, `bob` and `alice` in each store that a line `on
STORE ...` names, else in files; the lead's key and those of strangers are {ceo.key}, {other.key} and so on, their files
{ceo.file}. Further lines are what somebody does who may write everything of the team:

- `yes KEPT {FIELDS}` writes the lead's yes to the request kept by that name, with other fields perhaps; `yes KEPT by
  KEY` signs it, and `yes KEPT on the trail` says that the lead wrote it;
- `keys KEY ... with KEY` puts these keys of the lead into the settings, and with which it signs;
- `change OLD NEW` changes the settings, `forge OLD NEW` texts wherever they stand, the trail's chain made anew, and
  `unseal NUMBER` takes away the seals of so many last lines of the trail, or of all;
- `lose-the-trail` leaves nothing that says what was in force.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from team_console.store.backends.open import open_team

from tests.equipment.cases import cases
from tests.equipment.command_line import CommandLine, Result, words_of
from tests.equipment.scripts import Script
from tests.equipment.signed_teams import PLACES, TEAM_ID, Files, Place
from tests.equipment.signing_keys import key_file, public_line, sign_record
from tests.equipment.statements import execute

pytestmark = pytest.mark.slow

SCRIPTS = {path.stem: path.read_text("utf-8") for path in sorted((Path(__file__).parent / "scripts").glob("*.txt"))}
SETTINGS = "team: sprint-42\nlead: ceo\nagents:\n- {name: bob, role: slave}\n- {name: alice, role: slave}\n"
TABLES = ("DELETE FROM team_console_audit", "DELETE FROM team_console_config WHERE key = 'settings_in_force'")


@dataclass(frozen=True, slots=True)
class AtPlace(CommandLine):
    """The command line on a team wherever that is."""

    location: str

    def __call__(self, line: str = "", *arguments: str, **more: Any) -> Result:
        """Run it."""
        return CommandLine.__call__(self, "", "-t", self.location, *words_of(line), *arguments, **more)


class Attack(Script):
    """A script in which somebody writes who has no key of the lead."""

    def __init__(self, place: Place, folder: Path) -> None:
        super().__init__(AtPlace(folder, place.location))
        self.place = place
        names = ("ceo", "other", "third", "mallory")
        self.kept |= {name: {"key": public_line(name=name), "file": str(key_file(name=name))} for name in names}
        self.kept |= {"certificate": certificate(), "here": {"folder": str(folder)}}

    def run(self, line: str) -> Result:
        """Do what a line says."""
        verb, _, rest = line.partition(" ")
        words = [word.replace("\\n", "\n") for word in shlex.split(rest)] if "'" in rest else rest.split()
        if verb == "yes":
            self._forge(rest)
        elif verb == "keys":
            listed = "".join(f"    - {self.kept[name]['key']}\n" for name in words[:-2])
            human = f"humans:\n  ceo:\n    keys:\n{listed}    sign_with: {self.kept[words[-1]]['file']}\n"
            self.place.write_settings(f"{SETTINGS}verdicts: signed\nteam_id: {TEAM_ID}\n{human}")
        elif verb == "change":
            self.place.settings(words[0], words[1]).__enter__()
        elif verb == "forge":
            self.place.replace((words[0], words[1]))
        elif verb == "unseal":
            self.place.unseal(int(rest))
        elif verb == "lose-the-trail":
            self._lose_the_trail()
        else:
            return super().run(line)
        return Result(0, "", "")

    def _forge(self, words: str) -> None:
        """Write the lead's yes to a request."""
        words, brace, fields = words.partition(" {")
        name, _, how = words.partition(" ")
        request = self.kept[name]["request_id"]
        team = open_team(self.place.location)
        question = next(message for message in team.snapshot().messages if message.request_id == request)
        team.close()
        changes = yaml.safe_load(brace + fields) if brace else {}
        team_id = changes.pop("team_id", TEAM_ID)
        payload = {"request_id": request, "approve": True, "content": "go", "summary": "Approved"}
        record = {
            **{"message_id": "MSG-20261122-forgedaa", "type": "plan_approval_response", "from": "ceo", "to": "bob"},
            **{"priority": "high", "created": question.created, "status": "pending", "payload": payload, **changes},
        }
        if how.startswith("by "):
            sign_record(record, self.kept[how[3:]]["file"], question, team_id=team_id)
        elif how:
            self.place.trail(record)
        self.place.append(record)

    def _lose_the_trail(self) -> None:
        if isinstance(self.place, Files):
            for name in ("audit.jsonl", "message-queue.yaml.lock", "message-queue.yaml.prev"):
                (self.place.folder / name).unlink(missing_ok=True)
            shutil.rmtree(self.place.folder / "archive", ignore_errors=True)
        else:
            state = "UPDATE team_console_state SET audit_seq = 0, audit_hash = ''"
            execute(self.place.location, *TABLES, state)


def certificate() -> dict[str, str]:
    """The certificate of a key, made with another one."""
    key = key_file(name="mallory")
    made = key.with_name(f"{key.name}-cert.pub")
    if not made.exists():
        command = ["ssh-keygen", "-q", "-s", str(key), "-I", "ceo", "-n", "ceo", str(key.with_suffix(".pub"))]
        subprocess.run(command, check=True)
    return {"key": made.read_text().strip(), "file": str(made)}


def _told() -> Iterator[Any]:
    """Each script with each store that it is told on."""
    for name, text in SCRIPTS.items():
        stores = next((line.split()[1:] for line in text.splitlines() if line.startswith("on ")), ["yaml"])
        for store in stores:
            yield pytest.param(store, name, id=name if store == "yaml" else f"{name}-{store}")


@pytest.mark.parametrize(("store", "name"), [*_told()])
def test_what_a_script_says_holds(store: str, name: str, tmp_path: Path) -> None:
    text = "\n".join(line for line in SCRIPTS[name].splitlines() if not line.startswith("on "))
    Attack(PLACES[store](tmp_path), tmp_path).play(text)


@cases
@pytest.mark.parametrize("store", ["yaml", "sqlite"])
def test_no_way_around_the_key_decides(story: str, told: str, store: str, tmp_path: Path) -> None:
    attack = Attack(PLACES[store](tmp_path), tmp_path)
    attack.play(f"plan = $ bob: plan --content '1. Go'\n{story}")
    attack.play("$ bob: verdict plan.request_id\n  exits 11\n  state: open")
    assert told in attack.command("check", "--json").out


@cases
@pytest.mark.parametrize("store", ["yaml", "sqlite"])
def test_after_a_lost_trail_nothing_is_decided_under_another_authority_which_is_told(
    change: str, store: str, tmp_path: Path
) -> None:
    """Approved, said every list, of a verdict that nobody had signed."""
    Attack(PLACES[store](tmp_path), tmp_path).play(LOST.replace("ATTACK", change))


LOST = """keys ceo with ceo
plan = $ bob: plan --content '1. Go'
$ ceo: approve plan.request_id
lose-the-trail
ATTACK
$ ceo: check
  exits 1
  findings.*.code ~ AUTHORITY_CHANGED
  findings.*.message ~ since you last signed a verdict in this team
asked = $ alice: plan --content '2. Go on'
$ ceo: approve asked.request_id
  error: NOT_PERMITTED
  message ~ since you last signed a verdict
  hint ~ --accept-settings
keys ceo with ceo
$ ceo: check --accept-settings
% ceo: check
  ! AUTHORITY_CHANGED
$ ceo: approve asked.request_id
"""
