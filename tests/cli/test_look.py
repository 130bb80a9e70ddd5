"""`requests`, `roster`, `status`, `inbox`, `history`, `check`: what is shown, for people and for programs."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from team_console.console.cli.main import run

from tests.equipment.command_line import CommandLine
from tests.equipment.teams import make_message, put
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
    team.ok("send", "--to", "task-manager", "--summary", "创建新任务：财务报表生成", "--content", "x", "--as", "ceo")
    words = ("send", "--to", "ceo", "--summary", "任务已创建，ID: TASK-001", "--content", "x", "--as", "task-manager")
    team.ok(*words)
    lines = team.ok("history", "--agent", "ceo").out.splitlines()
    stamp = r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\]"
    assert re.fullmatch(stamp + r' OUTGOING -> task-manager: "创建新任务：财务报表生成"', lines[0])
    assert re.fullmatch(stamp + r' INCOMING <- task-manager: "任务已创建，ID: TASK-001"', lines[1])


def test_times_are_local_and_their_zone_is_said(showcase: CommandLine) -> None:
    here, there = (showcase("history", env={"TZ": zone}) for zone in ("UTC", "Asia/Shanghai"))
    first = here.out.splitlines()[0]
    moved = datetime.fromisoformat(first[1:20]) + timedelta(hours=8)
    assert there.out.splitlines()[0] == f"[{moved}{first[20:]}"
    assert (here.err, "UTC+08:00" in there.err) == ("", True)
    since = showcase("history", "--since", f"{moved}", env={"TZ": "Asia/Shanghai"})
    assert since.out == there.out
    assert "UTC+08:00" in showcase("decisions", env={"TZ": "Asia/Shanghai"}).err
    assert showcase("history", "--json", env={"TZ": "Asia/Shanghai"}).json == showcase("history", "--json").json


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
    found = showcase.ok("digest", "--since", "2026-02-24T09:00:00Z", "--json").json
    groups = {(item["group"], item["who"], item["by"]) for item in found["happened"]}
    assert groups >= {
        ("asked", "task-manager", None),  # still open; what was decided meanwhile is told as that
        ("decided", "task-manager", "ceo"),
        *(("failed", "architect", None), ("refused", "file-manager", None)),
        *(("done", "dev-runner-3-1", None), ("stopped", "dev-runner-3-1", None)),
    }
    assert 0 < found["waiting"] <= showcase.ok("status", "--json").json["needs_you"]
    assert any("files" in sentence for sentence in found["unknown"])
    blocked = found["blocked"]
    assert blocked["team"]["total"] == sum(one["total"] for one in blocked["agents"].values()) > 0
    later = showcase.ok("digest", "--since", "2026-02-24T10:30:00Z", "--json").json
    assert later["blocked"]["team"]["total"] <= blocked["team"]["total"]
    assert 0 < later["count"] < found["count"]
    assert all(item["at"] > "2026-02-24T10:30" for item in later["happened"])
