"""A message dated at either end of the calendar is one strange message: every verb goes on, in every zone."""

from __future__ import annotations

import pytest
from team_console.store.model.clock import from_text

from tests.equipment.command_line import CommandLine
from tests.equipment.samples import rotated

pytestmark = pytest.mark.slow

DATES = (
    "9999-12-31T23:59:59Z",
    "9999-12-31T23:59:59.999999-14:00",
    "0001-01-01T00:00:00Z",
    "0001-01-01T00:00:00+14:00",
)
VERBS = (
    *("status", "requests", "roster", "inbox --agent task-manager", "history", "check", "decisions", "failures"),
    *(
        "deliver",
        "receive --agent file-manager",
        "retry MSG-7",
        "clear --older-than 1d --yes",
        "show r1",
        "status --json",
    ),
)
_ENTRY = "- {{message_id: MSG-{number}, type: {type}, from: {sender}, to: {to}, created: '{at}', {more}}}\n"
_MESSAGES = (
    ("message", "file-manager", "task-manager", "status: pending, next_attempt_at: '{at}', payload: {{content: x}}"),
    ("plan_approval_request", "file-manager", "ceo", "status: pending, payload: {{request_id: r1, plan_content: x}}"),
    ("message", "task-manager", "file-manager", "status: claimed, lease_until: '{at}', payload: {{content: x}}"),
    ("question", "file-manager", "ceo", "status: read, read_at: '{at}', payload: {{request_id: r4, expires: '{at}'}}"),
    ("shutdown_request", "ceo", "file-manager", "status: delivered, delivered_at: '{at}', payload: {{request_id: r5}}"),
    ("permission", "task-manager", "ceo", "status: pending, payload: {{request_id: r6, expires: '{at}', content: x}}"),
    ("message", "task-manager", "ceo", "status: failed, failed_at: '{at}', attempts: 3, payload: {{content: x}}"),
    ("session_state", "task-manager", "ceo", "status: pending, payload: {{state: working, client: x, at: '{at}'}}"),
)


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


def test_a_moment_leaves_room_for_what_is_added_to_it() -> None:
    assert [moment.year for date in DATES if (moment := from_text(date)) is not None] == [9000, 2]


YEARS = {
    "0001-01-01T00:00:00Z": "????-??-?? ??:??:??",
    "0999-06-01T12:00:00Z": "0999-06-01",
    "1969-12-31T12:00:00Z": "1969-12-31",
    "8999-06-01T12:00:00Z": "8999-06-01",
    "9999-12-31T23:59:59Z": "????-??-?? ??:??:??",
}


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
