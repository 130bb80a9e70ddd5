"""`requests`, `roster`, `status`, `inbox`, `history`, `check` and `ask`: what is shown, and for whom one acts."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from team_console.console.cli.decide import answers_from
from team_console.console.cli.main import run
from team_console.store.model.errors import Code, TeamError
from team_console.store.protocol.client_requests import Option, Question

from tests.equipment.cases import cases, constant
from tests.equipment.command_line import COMMAND, CommandLine
from tests.equipment.samples import rotated
from tests.equipment.teams import make_message, put
from tests.equipment.terminal import Terminal
from tests.equipment.yaml_folder import open_yaml, receive
from tests.showcase import build

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def showcase(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """The fixed demo team; these verbs must not change it."""
    folder: Path = tmp_path_factory.mktemp("showcase") / "team"
    build(folder)
    return CommandLine(folder)


def test_the_log_of_an_agent_has_the_line_format_of_the_source(team: CommandLine) -> None:
    team.ok("send --to task-manager --summary '创建新任务：财务报表生成' --content x --as ceo")
    words = ("send", "--to", "ceo", "--summary", "任务已创建，ID: TASK-001", "--content", "x", "--as", "task-manager")
    team.ok(*words)
    lines = team.ok("history --agent ceo").out.splitlines()
    stamp = r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\]"
    assert re.fullmatch(stamp + r' OUTGOING -> task-manager: "创建新任务：财务报表生成"', lines[0])
    assert re.fullmatch(stamp + r' INCOMING <- task-manager: "任务已创建，ID: TASK-001"', lines[1])


def test_times_are_local_and_their_zone_is_said(showcase: CommandLine) -> None:
    here, there = (showcase("history", env={"TZ": zone}) for zone in ("UTC", "Asia/Shanghai"))
    first = here.out.splitlines()[0]
    moved = datetime.fromisoformat(first[1:20]) + timedelta(hours=8)
    assert there.out.splitlines()[0] == f"[{moved}{first[20:]}"
    assert (here.err, "UTC+08:00" in there.err) == ("", True)
    since = showcase("history --since", f"{moved}", env={"TZ": "Asia/Shanghai"})
    assert since.out == there.out
    assert "UTC+08:00" in showcase("decisions", env={"TZ": "Asia/Shanghai"}).err
    assert showcase("history --json", env={"TZ": "Asia/Shanghai"}).json == showcase("history --json").json


def test_check_says_when_it_did_not_look_at_all_of_the_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    team = open_yaml(tmp_path)
    put(team, *(make_message(number) for number in range(1, 602)))
    receive(team)
    run(["-t", str(tmp_path), "--json", "check"])
    assert not [load for load in json.loads(capfd.readouterr().out)["findings"] if load["code"] == "OLDER_NOT_SEEN"]
    monkeypatch.setattr("team_console.console.cli.checking.MOST_ARCHIVED", 500)
    run(["-t", str(tmp_path), "--json", "check"])
    (told,) = [load for load in json.loads(capfd.readouterr().out)["findings"] if load["code"] == "OLDER_NOT_SEEN"]
    assert "newest 500" in told["message"]
    assert (told["severity"], bool(told["hint"])) == ("notice", True)


def test_the_digest_tells_what_happened_since_a_moment_by_kind(showcase: CommandLine) -> None:
    found = showcase.ok("digest --since 2026-02-24T09:00:00Z --json").json
    groups = {(item["group"], item["who"], item["by"]) for item in found["happened"]}
    assert groups >= constant(__file__, "HAPPENED", set[tuple[str, str, str | None]])
    assert 0 < found["waiting"] <= showcase.ok("status --json").json["needs_you"]
    assert any("files" in sentence for sentence in found["unknown"])
    blocked = found["blocked"]
    assert blocked["team"]["total"] == sum(one["total"] for one in blocked["agents"].values()) > 0
    later = showcase.ok("digest --since 2026-02-24T10:30:00Z --json").json
    assert later["blocked"]["team"]["total"] <= blocked["team"]["total"]
    assert 0 < later["count"] < found["count"]
    assert all(item["at"] > "2026-02-24T10:30" for item in later["happened"])


ME = ("--as", "task-manager")


def ask(team: CommandLine) -> str:
    """Ask a question with two options; its request id."""
    return team.ok(*ME, "ask", "Which database?", "--option", "SQLite", "--option", "PostgreSQL").out.strip()


DB = Question("Which database?", "DB", (Option("SQLite"), Option("PostgreSQL"), Option("a=b")))
SIZE = Question("How many?", "", (Option("2"), Option("1"), Option("SQLite")), several=True)


@cases
def test_options_are_found_by_label_before_number_and_question(
    questions: tuple[Question, ...], options: list[str], texts: list[str], wanted: object
) -> None:
    assert answers_from(questions, options, texts) == wanted


@cases
def test_what_names_no_question_or_no_option_is_refused(options: list[str], texts: list[str], code: Code) -> None:
    with pytest.raises(TeamError) as caught:
        answers_from((DB, SIZE), options, texts)
    assert caught.value.code is code


SUMMARY = ("--summary", "one two three four five", "--content", "c")


def plan(team: CommandLine) -> str:
    return team.ok("--as task-manager plan", *SUMMARY).out.strip()


def test_off_a_terminal_whoever_decides_is_named(team: CommandLine) -> None:
    request = plan(team)
    for words in (("approve", request), ("reject", request, "--reason", "no"), ("shutdown", "file-manager")):
        done = team("", *words, "--json", env={"TEAM_CONSOLE_AS": ""})
        assert (done.status, "ACTOR_UNNAMED" in done.out) == (1, True)
    team.ok("--as ceo approve", request)


def test_at_a_terminal_the_lead_need_not_be_named(team: CommandLine) -> None:
    with Terminal([*COMMAND, "approve", plan(team)], cwd=team.folder) as terminal:
        assert terminal.wait_exit() == 0, terminal.text


DATES = constant(__file__, "DATES", tuple[str, ...])
VERBS = constant(__file__, "VERBS", tuple[str, ...])
_ENTRY = "- {{message_id: MSG-{number}, type: {type}, from: {sender}, to: {to}, created: '{at}', {more}}}\n"
_MESSAGES = constant(__file__, "_MESSAGES", tuple[tuple[str, ...], ...])


@pytest.mark.parametrize(("at", "zone"), rotated(DATES, ("UTC", "Asia/Tokyo", "America/New_York")))
def test_no_date_keeps_a_verb_from_its_work(team: CommandLine, at: str, zone: str) -> None:
    entries = (
        _ENTRY.format(number=number, type=kind, sender=sender, to=to, at=at, more=more.format(at=at))
        for number, (kind, sender, to, more) in enumerate(_MESSAGES, 1)
    )
    (team.folder / "message-queue.yaml").write_text("messages:\n" + "".join(entries), encoding="utf-8")
    for verb in VERBS:
        ended = team(*verb.split(), "--as", "ceo", env={"TZ": zone})
        assert "unexpected" not in ended.err, f"{verb}: {ended.err}"


YEARS = constant(__file__, "YEARS", dict[str, str])


@pytest.mark.parametrize("zone", ["UTC", "Asia/Shanghai", "America/New_York"])
def test_a_line_of_history_has_the_year_that_was_written_or_none(team: CommandLine, zone: str) -> None:
    entries = (
        _ENTRY.format(
            number=number, type="message", sender="file-manager", to="ceo", at=at, more="payload: {content: x}"
        )
        for number, at in enumerate(YEARS)
    )
    (team.folder / "message-queue.yaml").write_text("messages:\n" + "".join(entries), encoding="utf-8")
    lines = team("history", env={"TZ": zone}).out.splitlines()
    assert [line[1 : 1 + len(shown)] for line, shown in zip(lines, YEARS.values(), strict=True)] == list(YEARS.values())
    assert {line.index("]") for line in lines} == {20}
