"""`requests`, `roster`, `status`, `inbox`, `history`, `check`: what is shown, for people and for programs."""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from team_console.console.cli.main import run

from tests.conftest import CommandLine
from tests.showcase import build
from tests.store.contract import make_message, put
from tests.store.yaml_folder import open_yaml, receive

pytestmark = pytest.mark.slow

SUMMARY = "State of the export job please"


@pytest.fixture(scope="module")
def showcase(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """The fixed demo team; these verbs must not change it."""
    folder: Path = tmp_path_factory.mktemp("showcase") / "team"
    build(folder)
    return CommandLine(folder)


def test_requests_have_the_fields_of_the_contract(showcase: CommandLine) -> None:
    rows = showcase.ok("requests", "--json").json["requests"]
    keys = ["request_id", "kind", "from", "to", "message_id", "state", "asked_at", "waiting_seconds"]
    keys += ["answered_at", "answered_by", "reason", "flags"]
    assert all(set(keys) <= set(row) for row in rows)
    plan = next(row for row in rows if row["kind"] == "plan" and row["state"] in ("open", "overdue"))
    assert (plan["from"], plan["to"], plan["answered_by"]) == ("task-manager", "ceo", None)
    assert plan["waiting_seconds"] > 0


def test_open_requests_and_kinds_can_be_picked(showcase: CommandLine) -> None:
    rows = showcase.ok("requests", "--open", "--json").json["requests"]
    assert rows
    assert {row["state"] for row in rows} <= {"open", "overdue"}
    plans = showcase.ok("requests", "--kind", "plan", "--json").json["requests"]
    assert {row["kind"] for row in plans} == {"plan"}
    assert {"rejected", "approved"} & {row["state"] for row in plans}


def test_requests_print_a_table_with_the_id_to_answer(showcase: CommandLine) -> None:
    lines = showcase.ok("requests", "--open", "--kind", "plan").out.splitlines()
    assert lines[0].split() == ["STATE", "KIND", "WAITED", "FROM", "TO", "REQUEST", "WHAT"]
    assert re.search(r"plan_approval-\d+@task-manager@sprint-42", lines[1])


def test_the_roster_lists_everybody_with_state_and_unread(showcase: CommandLine) -> None:
    agents = {agent["name"]: agent for agent in showcase.ok("roster", "--json").json["agents"]}
    keys = ["name", "role", "state", "plan_mode_required", "unread", "oldest_unread_seconds", "last_seen"]
    assert all(set(keys) <= set(agent) for agent in agents.values())
    assert {"ceo", "architect", "slave-batch-2", "dev-runner-3-2"} <= set(agents)
    assert agents["task-manager"]["plan_mode_required"] is True
    assert agents["task-manager"]["unread"] >= 1
    assert "task-manager" in showcase.ok("roster").out


def test_the_status_is_one_object_and_one_screen(showcase: CommandLine) -> None:
    status = showcase.ok("status", "--json").json
    keys = ["team", "location", "backend", "read_only", "condition", "agents", "messages", "needs_you"]
    assert {*keys, "problems", "last_change"} <= set(status)
    assert (status["team"], status["backend"], status["condition"]) == ("sprint-42", "yaml", "ok")
    assert status["messages"]["failed"] == 1
    shown = showcase.ok("status").out
    assert "condition  ok" in shown
    assert "PLAN" in shown
    assert len(shown.splitlines()) <= 50


def test_a_new_team_is_empty_not_broken(team: CommandLine) -> None:
    assert team.ok("status", "--json").json["condition"] == "empty"
    assert "nothing needs ceo" in team.ok("status").out


@pytest.mark.parametrize(("verb", "status"), [("roster", 4), ("requests", 4), ("inbox", 4)])
def test_a_broken_queue_is_an_error_of_every_verb_that_lists(verb: str, status: int, team: CommandLine) -> None:
    (team.folder / "message-queue.yaml").write_text("messages:\n- {message_id: [\x00")
    result = team(verb, *(["ceo"] if verb == "inbox" else []), "--json")
    assert (result.status, result.json["error"]) == (status, "STORE_UNREADABLE")


def test_the_status_of_a_broken_queue_says_so(team: CommandLine) -> None:
    (team.folder / "message-queue.yaml").write_text("messages:\n- {message_id: [\x00")
    result = team("status")
    assert result.status == 4
    assert "condition  unreadable: " in result.out
    assert "message-queue.yaml" in result.out
    assert team("status", "--json").json["condition"] == "unreadable"
    assert team("check", "--json").status == 1


def test_an_inbox_lists_unread_messages_first_and_touches_nothing(showcase: CommandLine) -> None:
    before = (showcase.folder / "message-queue.yaml").read_bytes()
    result = showcase.ok("inbox", "ceo", "--json").json
    assert (result["agent"], result["count"]) == ("ceo", len(result["messages"]))
    statuses = [message["status"] for message in result["messages"]]
    assert statuses == sorted(statuses, key=lambda status: status == "read")
    assert "pending" in showcase.ok("inbox", "ceo", "--unread").out
    assert (showcase.folder / "message-queue.yaml").read_bytes() == before


def test_an_unknown_inbox_is_refused_with_the_nearest_name(showcase: CommandLine) -> None:
    result = showcase("inbox", "task-manger", "--json")
    assert (result.status, result.json["error"]) == (1, "AGENT_NOT_FOUND")
    assert "task-manager" in result.json["hint"]


def test_the_log_of_an_agent_has_the_line_format_of_the_source(team: CommandLine) -> None:
    team.ok("send", "--to", "task-manager", "--summary", "创建新任务：财务报表生成", "--content", "x", "--as", "ceo")
    words = ("send", "--to", "ceo", "--summary", "任务已创建，ID: TASK-001", "--content", "x", "--as", "task-manager")
    team.ok(*words)
    lines = team.ok("history", "--agent", "ceo").out.splitlines()
    stamp = r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\]"
    assert re.fullmatch(stamp + r' OUTGOING -> task-manager: "创建新任务：财务报表生成"', lines[0])
    assert re.fullmatch(stamp + r' INCOMING <- task-manager: "任务已创建，ID: TASK-001"', lines[1])


@pytest.mark.parametrize(
    ("kind", "payload", "said"),
    [
        ("notify", {"message": "deploy at four"}, "deploy at four"),
        (
            "handoff",
            {"artifact_path": "a", "context_summary": "for the report", "next_actions": ["x"]},
            "for the report",
        ),
        ("review", {"artifact_path": "plan.md", "review_type": "code"}, "artifact_path: plan.md"),
        ("clarify", {"question": "Which one?", "context": "c"}, "Which one?"),
        ("escalate", {"issue": "No disk", "severity": "high", "recommendation": "r"}, "No disk"),
        ("collaborate", {"topic": "The export", "deadline": "2026-02-24T10:30:00Z"}, "The export"),
        ("task_complete", {"task_id": "T-1"}, "T-1"),
        ("message", {"content": "first\nsecond"}, "first"),
        ("shutdown_response", {"request_id": "r", "approve": True}, "shutdown_response: yes"),
        ("shutdown_response", {"request_id": "r", "approve": False, "content": "Busy"}, "shutdown_response: no, Busy"),
    ],
)
def test_a_message_without_a_summary_says_its_text_in_every_list(
    team: CommandLine, kind: str, payload: dict[str, object], said: str
) -> None:
    record = {"message_id": "M", "type": kind, "from": "ceo", "to": "task-manager", "status": "pending"}
    more = {"priority": "high", "created": "2026-02-24T10:30:15Z", "payload": payload}
    text = f"messages:\n- {json.dumps({**record, **more})}\n"
    (team.folder / "message-queue.yaml").write_text(text, "utf-8")
    line = f'[2026-02-24 10:30:15] INCOMING <- ceo: "{said}"'
    assert team.ok("history", "--agent", "task-manager").out.splitlines() == [line]
    [row] = csv.DictReader(io.StringIO(team.ok("history", "--format", "csv").out, newline=""))
    assert row["summary"] == said
    assert said in team.ok("inbox", "task-manager").out
    assert said in team.ok("receive", "--agent", "task-manager").out.splitlines()


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


def test_history_joins_archive_and_queue_each_message_once(team: CommandLine) -> None:
    for number in range(3):
        team.ok("send", "--to", "task-manager", "--summary", f"{SUMMARY} {number}", "--content", "x")
    team.ok("receive", "--agent", "task-manager")
    team.ok("send", "--to", "task-manager", "--summary", f"{SUMMARY} 3", "--content", "x")
    found = team.ok("history", "--format", "json").json
    assert found["count"] == 4
    assert [message["payload"]["summary"][-1] for message in found["messages"]] == ["0", "1", "2", "3"]


def test_history_can_be_filtered(showcase: CommandLine) -> None:
    everything = showcase.ok("history", "--json").json["count"]
    broadcasts = showcase.ok("history", "--type", "broadcast", "--json").json
    assert 0 < broadcasts["count"] < everything
    assert {message["type"] for message in broadcasts["messages"]} == {"broadcast"}
    found = showcase.ok("history", "--grep", "D-1[0-9]{2}", "--json").json
    assert 0 < found["count"] < everything
    since = showcase.ok("history", "--since", "2026-02-24T10:30:00Z", "--json").json
    assert 0 < since["count"] < everything
    assert all(message["created"] >= "2026-02-24T10:30:00" for message in since["messages"])
    assert showcase.ok("history", "--since", "1m", "--json").json["count"] == 0


@pytest.mark.parametrize("arguments", [("--grep", "("), ("--since", "yesterday-ish")])
def test_a_filter_that_makes_no_sense_is_a_usage_error(arguments: tuple[str, ...], showcase: CommandLine) -> None:
    result = showcase("history", *arguments, "--json")
    assert (result.status, result.json["error"]) == (2, "USAGE")


def test_csv_has_a_head_and_one_row_per_message(showcase: CommandLine) -> None:
    rows = list(csv.DictReader(io.StringIO(showcase.ok("history", "--format", "csv").out, newline="")))
    assert len(rows) == showcase.ok("history", "--json").json["count"]
    assert {"message_id", "created", "from", "to", "type", "status", "summary"} <= set(rows[0])


def test_check_reports_findings_and_fails_on_errors(team: CommandLine) -> None:
    assert team.ok("check").out == "nothing to report\n"
    queue = team.folder / "message-queue.yaml"
    queue.write_text(
        "messages:\n"
        "- {message_id: m1, type: message, from: ceo, to: task-manager, payload: {content: a, summary: b}}\n"
        "- message_id: m2\n  type: [unclosed\n"
        "- {message_id: m3, type: message, from: ceo, to: task-manager, payload: {content: a, summary: b}}\n"
    )
    result = team("check", "--json")
    assert result.status == 1
    damaged = next(item for item in result.json["findings"] if item["code"] == "DAMAGED_ENTRY")
    assert damaged["severity"] == "error"
    assert "message-queue.yaml" in damaged["place"]
    assert damaged["message"]
    assert damaged["hint"]
    assert "DAMAGED_ENTRY" in team("check").out


def test_check_says_when_it_did_not_look_at_all_of_the_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    team = open_yaml(tmp_path)
    put(team, *(make_message(number) for number in range(1, 602)))
    receive(team)
    run(["-t", str(tmp_path), "--json", "check"])
    assert not [load for load in json.loads(capfd.readouterr().out)["findings"] if load["code"] == "OLDER_NOT_SEEN"]
    monkeypatch.setattr("team_console.console.cli.look._ARCHIVED", 500)
    run(["-t", str(tmp_path), "--json", "check"])
    (told,) = [load for load in json.loads(capfd.readouterr().out)["findings"] if load["code"] == "OLDER_NOT_SEEN"]
    assert "newest 500" in told["message"]
    assert (told["severity"], bool(told["hint"])) == ("notice", True)


def test_history_and_requests_are_searched_in_one_language(team: CommandLine) -> None:
    team.ok("plan", "--content", "1. Split the loader", "--summary", "Split the loader", "--as", "task-manager")
    team.ok("send", "--to", "ceo", "--summary", "Loader is slow", "--content", "x", "--as", "file-manager")
    found = team.ok("history", "--find", "loader -kind:plan", "--json").json["messages"]
    assert [message["payload"]["summary"] for message in found] == ["Loader is slow"]
    rows = team.ok("requests", "--find", "from:task-manager is:open loader", "--json").json["requests"]
    assert [row["title"] for row in rows] == ["Split the loader"]
    assert team.ok("requests", "--find", "is:decided", "--json").json["requests"] == []
    refused = team("requests", "--find", "is:purple")
    assert (refused.status, "is:open" in refused.err) == (2, True)


def test_the_digest_tells_what_happened_since_a_moment_by_kind(showcase: CommandLine) -> None:
    found = showcase.ok("digest", "--since", "2026-02-24T09:00:00Z", "--json").json
    groups = {(item["group"], item["who"], item["by"]) for item in found["happened"]}
    assert ("asked", "task-manager", None) in groups  # still open; what was decided meanwhile is told as that
    assert ("decided", "task-manager", "ceo") in groups
    assert {("failed", "architect", None), ("refused", "file-manager", None)} <= groups
    assert ("done", "dev-runner-3-1", None) in groups
    assert ("stopped", "dev-runner-3-1", None) in groups
    assert found["count"] == len(found["happened"])
    assert 0 < found["waiting"] <= showcase.ok("status", "--json").json["needs_you"]
    assert any("files" in sentence for sentence in found["unknown"])
    blocked = found["blocked"]
    assert blocked["team"]["total"] == sum(one["total"] for one in blocked["agents"].values()) > 0
    later = showcase.ok("digest", "--since", "2026-02-24T10:30:00Z", "--json").json
    assert later["blocked"]["team"]["total"] <= blocked["team"]["total"]
    assert 0 < later["count"] < found["count"]
    assert all(item["at"] > "2026-02-24T10:30" for item in later["happened"])


def test_the_digest_says_it_to_people_and_refuses_what_is_no_time(showcase: CommandLine) -> None:
    lines = showcase.ok("digest", "--since", "2026-02-24T09:00:00Z").out.splitlines()
    assert any(line.endswith("refused to stop:") for line in lines)
    assert any("by ceo" in line for line in lines)
    assert any(line.startswith("waiting for you now:") for line in lines)
    assert any(line.startswith("agents waited for a human ") and "task-manager" in line for line in lines)
    assert showcase("digest", "--since", "teatime").status == 2


def test_the_digest_tells_a_withdrawal_from_an_answer_given_in_the_session(team: CommandLine) -> None:
    for words in ("answered in the session", "found a bug in it"):
        request = team.ok("ask", "Shall I begin?", "--as", "file-manager", "--json").json["request_id"]
        team.ok("withdraw", request, "--reason", words, "--as", "file-manager")
    groups = {item["group"]: item["what"] for item in team.ok("digest", "--json").json["happened"]}
    assert set(groups) == {"withdrawn", "answered elsewhere"}
    assert "found a bug in it" in groups["withdrawn"]
