"""Settings that are no YAML, as while somebody types, never go on record: the last that parse stay in force.

Mending them is no loss, and `check --heal` puts nothing back that does not parse.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from team_console.store.settings.in_force import InForce, Names, judge_settings
from team_console.store.settings.settings_file import parse_settings
from team_console.store.settings.team_config import TeamConfig

from tests.equipment.command_line import CommandLine
from tests.equipment.statements import execute

WORDS = ("--summary", "one two three four five", "--content", "c")
BROKEN = ("\n: : {\n", '\nlanguage: "half', "\noverdue_seconds: {shutdown: 7")
STORES = {"folder": ".", "sqlite": "t.db"}


@pytest.fixture(params=STORES)
def team(request: pytest.FixtureRequest, tmp_path: Path) -> CommandLine:
    """A team whose settings are a file, beside the queue or beside the database; a plan waits."""
    command = CommandLine(tmp_path)
    command.ok("init", STORES[request.param], "--name", "T", "--lead", "ceo", "--agent", "a1")
    settings = tmp_path / "messenger-config.yaml"
    if request.param == "sqlite":
        settings.write_text("team: T\nlead: ceo\nagents:\n- {name: a1}\n")
        execute(str(tmp_path / "t.db"), "DELETE FROM team_console_config WHERE key LIKE 'settings%'")
    return command


def _ask(team: CommandLine) -> str:
    return str(team.ok(*_place(team), "--as", "a1", "plan", *WORDS, "--json").json["request_id"])


def _place(team: CommandLine) -> tuple[str, str]:
    return "-t", str(team.folder / "t.db") if (team.folder / "t.db").exists() else str(team.folder)


def _codes(team: CommandLine, *more: str) -> set[str]:
    return {found["code"] for found in team(*_place(team), "check", "--json", *more).json["findings"]}


WRITES: dict[str, Callable[[CommandLine, str], object]] = {
    "a send": lambda team, plan: team.ok(*_place(team), "--as", "a1", "send", "--to", "ceo", *WORDS),
    "a receive": lambda team, plan: team.ok(*_place(team), "receive", "--agent", "ceo"),
    "an answer": lambda team, plan: team.ok(*_place(team), "--as", "ceo", "approve", plan),
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("broken", BROKEN)
def test_mending_what_was_half_typed_is_no_loss(team: CommandLine, broken: str, write: str) -> None:
    settings = team.folder / "messenger-config.yaml"
    plan, good = _ask(team), settings.read_text()
    settings.write_text(good.rstrip() + broken)
    WRITES[write](team, plan)
    assert _codes(team) & {"BAD_CONFIG", "SETTINGS_LOST", "SETTINGS_UNREADABLE"} == {"BAD_CONFIG"}
    team.ok(*_place(team), "--as", "a1", "send", "--to", "ceo", *WORDS)
    settings.write_text(good)
    assert _codes(team) & {"BAD_CONFIG", "SETTINGS_LOST"} == set()
    team.ok(*_place(team), "--as", "ceo", "approve", _ask(team))
    assert _codes(team, "--heal") & {"BAD_CONFIG", "SETTINGS_LOST"} == set()
    assert settings.read_text() == good


def test_the_last_settings_that_parse_count_whole_meanwhile(team: CommandLine) -> None:
    settings = team.folder / "messenger-config.yaml"
    _ask(team)
    good = settings.read_text()
    settings.write_text(f'content_max_bytes: 5\n{good}language: "half')
    team.ok(*_place(team), "--as", "a1", "send", "--to", "ceo", *WORDS)


def test_where_nobody_can_tell_who_is_a_member_nobody_decides_until_it_is_mended(team: CommandLine) -> None:
    settings = team.folder / "messenger-config.yaml"
    plan, good = _ask(team), settings.read_text()
    settings.write_text(f"{good}\tdescription: x\n")
    refused = team(*_place(team), "--as", "ceo", "approve", plan, "--json")
    assert refused.json["error"] == "NOT_PERMITTED"
    assert "SETTINGS_UNREADABLE" in _codes(team)
    WRITES["a send"](team, plan)
    settings.write_text(good)
    assert "SETTINGS_LOST" not in _codes(team)
    WRITES["an answer"](team, plan)


def _judged(text: str | None, before: str) -> InForce:
    def understand(raw: bytes) -> TeamConfig:
        return parse_settings(raw, Path("settings"))

    data = None if text is None else text.encode()
    said = TeamConfig() if data is None else understand(data)
    names = Names("s", "s", "s")
    return judge_settings(data, said, before=before.encode(), last=TeamConfig(), understand=understand, names=names)


@pytest.mark.parametrize("broken", BROKEN)
def test_what_an_older_version_put_on_record_is_not_put_back(broken: str) -> None:
    good = "team: T\nlead: ceo\nagents:\n- {name: a1}\n"
    mended = _judged(good, good + broken)
    assert (mended.config.lost, mended.to_record) == ("", good.encode())
    gone = _judged(None, good + broken)
    assert "is gone" in gone.config.lost
    assert gone.in_force is None
