"""The language to look for messages and requests: what each part finds, and what is refused."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from team_console.store.model.errors import Code, TeamError
from team_console.store.views.search import finder, moment_of, parse_query

from tests.equipment.cases import cases
from tests.equipment.chronicle import LEAD, Chronicle

SAVED = {"late": "is:open kind:plan", "loop": "@loop"}


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
    found = finder(story.view().requests, LEAD)
    assert [message.message_id for message in story.messages if wanted.fits(found(message))] == ids


def test_a_time_of_day_is_the_last_one() -> None:
    now = datetime(2026, 2, 24, 12, 0, tzinfo=UTC).astimezone().replace(hour=12)
    earlier, later = (moment_of(text, now, named="since:") for text in ("11:30", "14:00"))
    assert (now - earlier, now - later) == (timedelta(minutes=30), timedelta(hours=22))


@pytest.mark.parametrize("query", ["since:yesterdayish", "is:purple", "form:bob", "@nothing", "@loop"])
def test_what_makes_no_sense_is_refused_with_what_can_be_said(query: str) -> None:
    now = Chronicle().now
    with pytest.raises(TeamError) as caught:
        parse_query(query, now=now, saved=SAVED)
    assert caught.value.code is Code.USAGE
    assert caught.value.hint
