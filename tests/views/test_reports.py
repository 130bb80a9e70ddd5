"""State reports: shown with their counts, the newest instead of the older ones; and what was read and not answered."""

from __future__ import annotations

import pytest
from team_console.store.model.message import new_record
from team_console.store.protocol.membership import report_of

from tests.equipment.chronicle import LEAD, Chronicle, agent


@pytest.mark.parametrize(
    ("payload", "text"),
    [
        (
            {"content": "当前任务队列状态：5 个进行中，3 个已完成，2 个待分配", "summary": "任务队列状态更新"},
            "5 running, 3 done, 2 to be assigned",
        ),
        (
            {"content": "Queue: 5 running, 3 done, 2 to be assigned", "summary": "s"},
            "5 running, 3 done, 2 to be assigned",
        ),
        ({"content": "c", "summary": "s", "progress": {"running": 2, "done": 1}}, "2 running, 1 done"),
        ({"content": "c", "summary": "Project PROJ-001 is started"}, "Project PROJ-001 is started"),
        ({"content": "I am done with 3 done", "summary": "Export"}, "Export"),
    ],
)
def test_a_broadcast_reports_its_counts_or_its_summary(payload: dict[str, object], text: str) -> None:
    message = new_record(
        message_id="m",
        type="broadcast",
        sender="a",
        to="b",
        created="2026-02-24T10:00:00Z",
        priority="low",
        payload=payload,
    )
    report = report_of(message)
    assert report is not None
    assert report.text == text


def report(story: Chronicle, running: int, *, sender: str = "task-manager") -> None:
    text = f"{running} running, 3 done, 2 to be assigned"
    story.say(sender, LEAD, "broadcast", summary=f"Task queue status: {running} run", content=text)


def test_the_roster_shows_what_an_agent_last_reported_also_when_that_was_archived() -> None:
    story = Chronicle()
    report(story, 5)
    report(story, 4)
    row = agent(story.view(), "task-manager")
    assert (row.reported, row.reported_at) == ("4 running, 3 done, 2 to be assigned", story.now)
    for message in tuple(story.messages):
        story.archive(message)
    assert agent(story.view(), "task-manager").reported == "4 running, 3 done, 2 to be assigned"
    assert agent(story.view(), "file-manager").reported == ""


def test_a_newer_report_stands_for_the_older_ones_in_needs_you() -> None:
    story = Chronicle()
    report(story, 5)
    report(story, 4)
    report(story, 9, sender="file-manager")
    story.say("task-manager", LEAD, "broadcast", summary="Export is down", content="Printers too")
    items = story.view().attention
    assert sorted((item.who, item.title) for item in items) == [
        ("file-manager", "Task queue status: 9 run"),
        ("task-manager", "Export is down"),
        ("task-manager", "Task queue status: 4 run"),
    ]
    assert any("replaces 1 earlier report" in item.why for item in items)
    story.change(story.messages[1], status="read", read_at="2026-02-24T10:05:00Z")
    assert "Task queue status: 5 run" not in [item.title for item in story.view().attention]


def test_what_was_read_and_got_no_word_back_is_counted_until_it_did() -> None:
    story = Chronicle()
    story.say(LEAD, "task-manager", "broadcast", status="read", content="c", summary="s")
    story.say("file-manager", "task-manager", status="read", in_reply_to="m0")
    asked = story.say("file-manager", "task-manager")
    assert agent(story.view(), "task-manager").unanswered == 0  # neither broadcast nor answer wants one
    story.change(asked, status="read")
    assert agent(story.view(), "task-manager").unanswered == 1
    assert [message.message_id for message in story.view().unanswered["task-manager"]] == [asked.message_id]
    story.say("task-manager", "file-manager", in_reply_to=asked.message_id)
    assert agent(story.view(), "task-manager").unanswered == 0


def test_a_message_back_is_the_reply_and_no_question_of_its_own() -> None:
    story = Chronicle()
    story.say("file-manager", "task-manager", status="read")
    story.say("task-manager", "file-manager", status="read")
    assert not story.view().unanswered
    again = story.say("task-manager", "file-manager", status="read")
    assert [message.message_id for message in story.view().unanswered["file-manager"]] == [again.message_id]
