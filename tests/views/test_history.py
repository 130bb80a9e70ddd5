"""History: archives and queue joined, filtered, searched in steps, written as lines, JSON and CSV."""

from __future__ import annotations

import re
from typing import Any

import pytest
from team_console.store.contract.team import Page
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message
from team_console.store.views.history import (
    CSV_FIELDS,
    HistoryPage,
    csv_row,
    history,
    history_json,
    log_line,
    past,
    search,
)
from team_console.store.views.search import Query, wanted

from tests.memory_team import MemoryTeam
from tests.views.chronicle import LEAD, Chronicle

NOW = Chronicle().now


def _team(story: Chronicle) -> MemoryTeam:
    team = MemoryTeam(config=story.config, messages=story.messages)
    if story.archived:
        with team.transaction(actor=LEAD, action="test", wait=1) as tx:
            for message in story.archived:
                tx.archive(message.recipients[0], message)
            tx.record("test")
    return team


def _ids(story: Chronicle, **filters: Any) -> list[str]:
    messages, _ = history(_team(story), story.messages, wanted(now=story.now, **filters))
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


def test_queue_and_archives_are_one_history_each_message_once_oldest_first() -> None:
    assert _ids(_conversation()) == ["m1", "m2", "m3", "m4", "m5", "m6"]


def test_a_message_that_is_live_and_archived_is_shown_as_it_is_live() -> None:
    story = _conversation()
    messages, _ = history(_team(story), story.messages, Query())
    assert messages[2] is story.messages[0]


def test_filters_by_agent_find_what_it_wrote_and_what_it_got() -> None:
    story = _conversation()
    story.say(LEAD, "debugger")
    assert _ids(story, agent="file-manager") == ["m1", "m2", "m3", "m4", "m5", "m6"]
    assert _ids(story, agent="debugger") == [story.messages[-1].message_id]


def test_filters_by_type_know_sprint_kinds_too() -> None:
    story = _conversation()
    report = story.sprint("dev-1", "slave-batch-1", "AGENT_COMPLETE", status="success", results={})
    assert _ids(story, type="AGENT_COMPLETE") == [report.message_id]
    assert len(_ids(story, type="message")) == 7


@pytest.mark.parametrize("since", ["2026-02-24T10:00:05Z", "2s"])
def test_filters_by_time_or_age(since: str) -> None:
    story = _conversation()
    story.wait(1)
    assert _ids(story, since=since) == ["m5", "m6"]


def test_filters_by_expression_look_into_names_ids_and_the_whole_payload() -> None:
    story = _conversation()
    deep = story.say(LEAD, "debugger", "spec_ready", facts={"files": [{"path": "specs/SPEC-031.md"}]})
    assert _ids(story, grep="SPEC-0[0-9]+") == [deep.message_id]
    assert _ids(story, grep="^Content [12]$") == ["m2", "m3"]
    assert _ids(story, grep="^debugger$") == [deep.message_id]


@pytest.mark.parametrize("filters", [{"grep": "("}, {"since": "yesterday-ish"}, {"since": ""}])
def test_a_filter_that_makes_no_sense_is_a_usage_error(filters: dict[str, Any]) -> None:
    if filters == {"since": ""}:
        assert wanted(now=NOW, **filters) == Query()
        return
    with pytest.raises(TeamError) as caught:
        wanted(now=NOW, **filters)
    assert caught.value.code is Code.USAGE


def test_an_age_before_the_beginning_of_time_lets_everything_through() -> None:
    assert len(_ids(_conversation(), since="999999999w")) == 6
    assert len(_ids(_conversation(), since=f"{'9' * 5000}w")) == 6


def test_a_search_walks_from_the_newest_to_the_oldest_and_tells_how_far_it_is() -> None:
    story = _conversation()
    steps = list(search(_team(story), story.messages, lambda message: True, page=1))
    assert [message.message_id for step in steps for message in step.messages] == ["m6", "m5", "m4", "m3", "m2", "m1"]
    assert [step.scanned for step in steps] == sorted(step.scanned for step in steps)
    assert steps[-1].scanned == 6


def _said(**more: Any) -> Message:
    return Chronicle().say(LEAD, "task-manager", **more)


def test_log_lines_have_the_format_of_the_source() -> None:
    message = _said(summary="创建新任务：财务报表生成")
    assert log_line(message, LEAD) == '[2026-02-24 10:00:01] OUTGOING -> task-manager: "创建新任务：财务报表生成"'
    assert log_line(message, "task-manager") == '[2026-02-24 10:00:01] INCOMING <- ceo: "创建新任务：财务报表生成"'
    assert log_line(message) == '[2026-02-24 10:00:01] ceo -> task-manager: "创建新任务：财务报表生成"'


def test_a_log_line_is_one_line_and_steers_no_terminal() -> None:
    line = log_line(_said(summary='a "quoted"\nword\x1b]52;c;eA==\x07\u202e'), LEAD)
    assert not re.search("[\x00-\x1f\x7f-\x9f\u202e]", line)
    assert r"\"quoted\"" in line


def test_a_log_line_of_a_message_without_words_says_its_kind_and_verdict() -> None:
    story = Chronicle()
    assert log_line(story.stopped(), LEAD).endswith('INCOMING <- file-manager: "shutdown_response: yes"')


def test_a_log_line_of_an_unknown_time_says_so() -> None:
    assert log_line(_said(created="soon"), LEAD).startswith("[????-??-?? ??:??:??] ")


def test_json_keeps_the_records_as_stored() -> None:
    story = _conversation()
    assert history_json(story.messages) == {
        "messages": [dict(message.record) for message in story.messages],
        "count": 4,
    }


def test_csv_rows_hold_every_column_and_no_formula() -> None:
    row = csv_row(_said(summary='=HYPERLINK("http://x")', content="-1+1", priority="high"))
    assert tuple(row) == CSV_FIELDS
    assert (row["from"], row["to"], row["priority"], row["status"]) == (LEAD, "task-manager", "high", "pending")
    assert (row["summary"], row["content"]) == ('\'=HYPERLINK("http://x")', "'-1+1")


@pytest.mark.parametrize("first", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"])
def test_no_cell_begins_as_a_formula_does(first: str) -> None:
    assert csv_row(_said(content=f"{first}1+1"))["content"] == f"'{first}1+1"


def test_the_newest_of_the_past_say_whether_they_are_all_of_it() -> None:
    story = Chronicle()
    for number in range(6):
        story.archive(story.say(LEAD, "file-manager", id=f"m{number}"))
    team = _team(story)
    whole, part = past(team, limit=10, page=2), past(team, limit=3, page=2)
    assert ([message.message_id for message in whole.messages], whole.complete) == (
        [f"m{n}" for n in (5, 4, 3, 2, 1, 0)],
        True,
    )
    assert ([message.message_id for message in part.messages], part.complete) == (["m5", "m4", "m3", "m2"], False)
    assert (whole.more, part.more) == (False, True)
    assert past(team, limit=0) == HistoryPage(more=True)


def test_a_past_that_cannot_be_read_is_a_problem_and_not_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: MemoryTeam, **_: Any) -> Page:
        raise TeamError(Code.STORE_UNREADABLE, "archive/ cannot be read", "Look at its permissions.")

    monkeypatch.setattr(MemoryTeam, "history", broken)
    found = past(MemoryTeam(), limit=10)
    assert ([problem.code for problem in found.problems], found.messages, found.complete) == (
        ["UNREADABLE_ARCHIVE"],
        (),
        False,
    )
