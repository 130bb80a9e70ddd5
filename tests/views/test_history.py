"""History: archives and queue joined, the language to search it, written as lines, JSON and CSV."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from team_console.store.contract.team import Page
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.views.history import csv_row, history, log_line, newest_archived
from team_console.store.views.search import history_query, moment_of, parse_query, searchable_with_requests

from tests.equipment.cases import cases
from tests.equipment.chronicle import LEAD, Chronicle
from tests.equipment.memory_team import MemoryTeam


def _team(story: Chronicle) -> MemoryTeam:
    team = MemoryTeam(config=story.config, messages=story.messages)
    if story.archived:
        with team.transaction(actor=LEAD, action="test", wait=1) as tx:
            for message in story.archived:
                tx.archive(message.recipients[0], message)
            tx.record("test")
    return team


def _ids(story: Chronicle, **filters: Any) -> list[str]:
    messages, _ = history(_team(story), story.messages, history_query(now=story.now, **filters))
    return [message.message_id for message in messages]


def _conversation() -> Chronicle:
    """m1 to m6, the first three archived, m3 also still live."""
    story = Chronicle()
    for number in range(6):
        sender, to = (LEAD, "file-manager") if number % 2 == 0 else ("file-manager", LEAD)
        story.say(sender, to, content=f"Content {number}", summary=f"Summary {number}")
    for message in story.messages[:2]:
        story.archive(message)
    story.archived.append(story.messages[0].with_changes(status="read"))
    return story


def test_filters_by_expression_look_into_names_ids_and_the_whole_payload() -> None:
    story = _conversation()
    deep = story.say(LEAD, "debugger", "spec_ready", facts={"files": [{"path": "specs/SPEC-031.md"}]})
    assert _ids(story, grep="SPEC-0[0-9]+") == [deep.message_id]
    assert _ids(story, grep="^Content [12]$") == ["m2", "m3"]
    assert _ids(story, grep="^debugger$") == [deep.message_id]


def test_a_live_message_that_is_older_than_all_archived_ones_is_found() -> None:
    story = Chronicle()
    for _ in range(2):
        story.say(LEAD, "debugger")
    story.archive(story.messages[1])
    assert _ids(story) == ["m1", "m2"]


def test_an_age_before_the_beginning_of_time_lets_everything_through() -> None:
    assert len(_ids(_conversation(), since="999999999w")) == 6
    assert len(_ids(_conversation(), since=f"{'9' * 5000}w")) == 6


def _said(**more: Any) -> Message:
    return Chronicle().say(LEAD, "task-manager", **more)


def test_a_log_line_of_a_message_without_words_says_its_kind_and_verdict() -> None:
    story = Chronicle()
    assert log_line(story.stopped(), LEAD).endswith('INCOMING <- file-manager: "shutdown_response: yes"')


def test_a_log_line_of_an_unknown_time_says_so() -> None:
    assert log_line(_said(created="soon"), LEAD).startswith("[????-??-?? ??:??:??] ")


@cases
def test_no_cell_begins_as_a_formula_does(first: str) -> None:
    assert csv_row(_said(content=f"{first}1+1"))["content"] == f"'{first}1+1"


def test_a_past_that_cannot_be_read_is_a_problem_and_not_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: MemoryTeam, **_: Any) -> Page:
        raise TeamError(Code.STORE_UNREADABLE, "archive/ cannot be read", "Look at its permissions.")

    monkeypatch.setattr(MemoryTeam, "history", broken)
    found = newest_archived(MemoryTeam(), limit=10)
    assert ([problem.code for problem in found.problems], found.messages, found.complete) == (
        ["UNREADABLE_ARCHIVE"],
        (),
        False,
    )


SAVED = {"late": "is:open kind:plan", "loop": "@loop", "others": "-from:me"}


@pytest.fixture(scope="module")
def story() -> Chronicle:
    """m1 to m6: a plan, a report of a failure, words with and without capitals, two agents with alike names."""
    story = Chronicle()
    story.say("bob", LEAD, "plan_approval_request", request_id="plan-1", summary="Split the loader", content="x")
    story.say("bobby", LEAD, summary="The Draft is ready", content="see http://example.org/a")
    story.say(LEAD, "bob", summary="a draft of it", content="payload loaders", file={"path": "src/loader.py"})
    story.say(LEAD, "all", summary="Freeze today")
    story.say("architect", "bob", summary="拆分加载器", content="请看")
    story.wait(3600)
    story.say("bob", "architect", summary="an hour later")
    story.messages[1] = story.messages[1].with_changes(status="failed")
    story.messages[2] = story.messages[2].with_changes(status="read")
    return story


@cases
def test_each_part_finds_what_it_says(story: Chronicle, query: str, ids: list[str]) -> None:
    wanted = parse_query(query, now=story.now, saved=SAVED, me=LEAD)
    found = searchable_with_requests(story.view().requests, LEAD)
    assert [message.message_id for message in story.messages if wanted.fits(found(message))] == ids


def test_a_time_of_day_is_the_last_one() -> None:
    now = datetime(2026, 2, 24, 12, 0, tzinfo=UTC).astimezone().replace(hour=12)
    earlier, later = (moment_of(text, now, named="since:") for text in ("11:30", "14:00"))
    assert (now - earlier, now - later) == (timedelta(minutes=30), timedelta(hours=22))


def test_a_day_begins_at_midnight_of_its_own_also_where_the_clock_was_changed_since(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In Berlin summer began on 29 March 2026 at 2:00, from when on it is two hours ahead of UTC, and not one."""
    now = datetime(2026, 3, 29, 12, 0, tzinfo=UTC)
    try:
        with monkeypatch.context() as patch:
            patch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
            time.tzset()
            found = [moment_of(text, now, named="since:") for text in ("today", "yesterday", "00:30", "15:00")]
    finally:
        time.tzset()
    told = [f"{moment.astimezone(UTC):%d %H:%M}" for moment in found]
    assert told == ["28 23:00", "27 23:00", "28 23:30", "28 14:00"]


@pytest.mark.parametrize(
    "query", ["since:yesterdayish", "is:purple", "form:bob", "form:", "-form:", "@nothing", "@loop"]
)
def test_what_makes_no_sense_is_refused_with_what_can_be_said(query: str) -> None:
    now = Chronicle().now
    with pytest.raises(TeamError) as caught:
        parse_query(query, now=now, saved=SAVED)
    assert caught.value.code is Code.USAGE
    assert caught.value.hint
