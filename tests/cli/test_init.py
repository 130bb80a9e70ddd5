"""`init`: a new team, and nothing that was there before is touched."""

from __future__ import annotations

from tests.equipment.command_line import CommandLine


def test_a_queue_that_exists_is_adopted_as_it_is(elsewhere: CommandLine) -> None:
    queue = elsewhere.folder / "message-queue.yaml"
    text = "messages:\n- message_id: m1\n  type: message\n  from: a\n  to: b\n  payload: {content: hello}\n"
    queue.write_text(text)
    elsewhere.ok("init", ".", "--agent", "a", "--agent", "b")
    assert queue.read_text() == text
    assert elsewhere.ok("inbox", "b", "--json").json["count"] == 1


def test_a_database_file_becomes_a_team_that_works_at_once(elsewhere: CommandLine) -> None:
    made = elsewhere.ok("init", "new/crew.db", "--agent", "a1:resident", "--json").json
    assert (made["team"], made["agents"]) == ("crew", ["ceo", "a1"])
    elsewhere.ok("-t", made["location"], "send", "--to", "a1", "--summary", "Welcome to the crew", "--content", "x")
    status = elsewhere.ok("-t", "new/crew.db", "status", "--json").json
    assert (status["backend"], status["team"], status["messages"]) == ("sql", "crew", {"pending": 1})
    again = elsewhere("init", "new/crew.db", "--name", "other", "--json")
    assert (again.status, again.json["error"]) == (1, "NOT_PERMITTED")
    assert elsewhere.ok("-t", "new/crew.db", "status", "--json").json["team"] == "crew"


def test_a_project_that_has_a_team_is_not_given_a_second_one(elsewhere: CommandLine) -> None:
    settings = elsewhere.folder / "_bmad/core/messenger/messenger-config.yaml"
    settings.parent.mkdir(parents=True)
    settings.write_text("team: t\n")
    refused = elsewhere("init", "--json")
    assert (refused.status, refused.json["error"]) == (1, "NOT_PERMITTED")
    assert [path.name for path in elsewhere.folder.iterdir()] == ["_bmad"]
