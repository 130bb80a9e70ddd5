"""State reports: shown with their counts, the newest instead of the older ones; and what was read and not answered."""

from __future__ import annotations

from team_console.store.protocol.membership import report_of

from tests.equipment.cases import cases
from tests.equipment.chronicle import LEAD, Chronicle
from tests.equipment.teams import make_message


@cases
def test_a_broadcast_reports_its_counts_or_its_summary(payload: dict[str, object], text: str) -> None:
    report = report_of(make_message(type="broadcast", payload=payload))
    assert report is not None
    assert report.text == text


def report(story: Chronicle, running: int, *, sender: str = "task-manager") -> None:
    text = f"{running} running, 3 done, 2 to be assigned"
    story.say(sender, LEAD, "broadcast", summary=f"Task queue status: {running} run", content=text)


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
