"""`init`: a new team, and nothing that was there before is touched."""

from __future__ import annotations

import yaml

from tests.conftest import CommandLine


def test_a_new_team_works_at_once(elsewhere: CommandLine) -> None:
    made = elsewhere.ok(
        *("init", "crew", "--name", "sprint-42", "--lead", "ceo"),
        *("--agent", "task-manager:plan", "--agent", "scrum-master:resident", "--json"),
    ).json
    assert made["agents"] == ["ceo", "task-manager", "scrum-master"]
    elsewhere.ok(
        "-t", "crew", "send", "--to", "task-manager", "--summary", "Create a task for reports", "--content", "x"
    )
    roster = {agent["name"]: agent for agent in elsewhere.ok("-t", "crew", "roster", "--json").json["agents"]}
    assert roster["ceo"]["role"] == "master"
    assert roster["task-manager"]["plan_mode_required"] is True
    assert roster["task-manager"]["unread"] == 1
    assert roster["scrum-master"]["role"] == "resident"


def test_the_files_are_plain_yaml(elsewhere: CommandLine) -> None:
    elsewhere.ok("init", "crew", "--lead", "ceo", "--agent", "no", "--agent", "1e3")
    settings = yaml.safe_load((elsewhere.folder / "crew" / "messenger-config.yaml").read_text())
    assert settings["lead"] == "ceo"
    assert [agent["name"] for agent in settings["agents"]] == ["ceo", "no", "1e3"]
    assert yaml.safe_load((elsewhere.folder / "crew" / "message-queue.yaml").read_text()) == {"messages": []}


def test_settings_that_exist_are_not_replaced(team: CommandLine) -> None:
    before = (team.folder / "messenger-config.yaml").read_bytes()
    result = team("init", ".", "--name", "other", "--json")
    assert (result.status, result.json["success"]) == (1, False)
    assert "exists" in result.json["message"]
    assert (team.folder / "messenger-config.yaml").read_bytes() == before


def test_a_queue_that_exists_is_adopted_as_it_is(elsewhere: CommandLine) -> None:
    queue = elsewhere.folder / "message-queue.yaml"
    text = "messages:\n- message_id: m1\n  type: message\n  from: a\n  to: b\n  payload: {content: hello}\n"
    queue.write_text(text)
    elsewhere.ok("init", ".", "--agent", "a", "--agent", "b")
    assert queue.read_text() == text
    assert elsewhere.ok("inbox", "b", "--json").json["count"] == 1


def test_names_that_could_leave_the_folder_are_refused(elsewhere: CommandLine) -> None:
    for name in ("../x", "a/b", "all", "-x", ""):
        result = elsewhere("init", "crew", f"--agent={name}", "--json")
        assert (result.status, result.json["error"]) == (1, "INVALID_NAME")
    assert not (elsewhere.folder / "crew").exists()
