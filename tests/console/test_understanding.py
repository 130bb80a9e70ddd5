"""Remarks on lines, questions back and grants by key: each goes where it was meant, and says so on the screen."""

from __future__ import annotations

import pytest
from team_console.store.service import requests
from team_console.store.service.caller import Caller

from tests.console.conftest import AUTHOR, LEAD, Desk, ask_permission, hand_in_plan, opened, verdicts
from tests.equipment.memory_team import MemoryTeam

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
PLAN = "# Goal\nMove the table\nDrop the old one\nTell everybody"


async def remark(desk: Desk, words: str, *moves: str) -> None:
    """Say something to the line that `moves` lead to."""
    await desk.asks(*moves, "enter")
    await desk.type(words)
    await desk.press("enter")
    await desk.shows(f"✎ {words}")


async def test_letters_of_a_remark_that_is_typed_too_early_decide_nothing(team: MemoryTeam) -> None:
    hand_in_plan(team, content=PLAN)
    async with opened(team) as desk:
        await desk.press("f", "L", *"saxrc", "space", "question_mark")
        await desk.shows("Nothing was done: enter writes on the line that is pointed at")
        await desk.asks("enter")
        await desk.shows("Remark on line 1")
        await desk.asks("escape", "escape", "a")
        await desk.shows("Approve")
    assert not verdicts(team)


async def test_remarks_are_kept_until_they_are_sent_and_found_in_the_next_version(
    team: MemoryTeam,
) -> None:
    hand_in_plan(team, content=PLAN)
    async with opened(team) as desk:
        await desk.press("f")
        await remark(desk, "which table?", "L", "j")
    async with opened(team) as desk:
        await desk.shows("✎ which table?", "draft")
        await desk.press("f")
        await remark(desk, "keep it", "L", "j", "j")
        await desk.asks("escape", "r")
        await desk.press("enter")
        await desk.decided(team)
    again = PLAN.replace("Drop the old one\n", "Wait a week\n").replace("# Goal\n", "# Goal\nFirst a copy\n")
    hand_in_plan(team, content=again)
    async with opened(team) as desk:
        await desk.press("f")
        await desk.shows("line 3 is gone · “Drop the old one” · keep it", "was line 2, now 3", "which table?")


async def test_a_question_back_leaves_the_request_open(team: MemoryTeam) -> None:
    plan = hand_in_plan(team, content=PLAN)
    async with opened(team) as desk:
        await desk.asks("f", "B")
        await desk.shows("goes on waiting for you")
        await desk.type("How do we roll back?")
        await desk.press("ctrl+s")
        await desk.shows("asked back a moment ago")
        requests.answer(Caller(team, AUTHOR), request_id=plan, content="With the copy of before")
        await desk.shows("With the copy of before")
    assert [message.type for message in team.snapshot().messages].count("request_askback") == 1
    assert not verdicts(team)


def answers(team: MemoryTeam) -> int:
    """How many permissions were answered."""
    return sum(message.type == "permission_response" for message in team.snapshot().messages)


async def test_a_permission_is_allowed_until_an_end_once_the_whole_grant_was_shown_and_tried(team: MemoryTeam) -> None:
    team = MemoryTeam(config=team.config(), clock=team.clock, keeps_trail=True)
    requests.approve(Caller(team, LEAD), request_id=ask_permission(team))
    ask_permission(team)
    async with opened(team, me=LEAD) as desk:
        await desk.asks("a")
        await desk.press("3", "enter")
        await desk.shows("may use Bash in /srv/atlas: make test", "would have answered 1, differed from you in 0")
        assert answers(team) == 1, "nothing is written before the end is chosen"
        await desk.press("2", "enter")
        await desk.tells("Approved the permission of task-manager, and the same for 10 times, at most a day")
        assert answers(team) == 2
        ask_permission(team)
        assert answers(team) == 3, "the very same is answered"
        ask_permission(team, "make test all")
        assert answers(team) == 3, "nothing else is"


@pytest.mark.usefixtures("long_grace")
async def test_a_permission_and_its_grant_are_taken_back_as_one(team: MemoryTeam) -> None:
    team = MemoryTeam(config=team.config(), clock=team.clock, keeps_trail=True)
    ask_permission(team)
    async with opened(team, me=LEAD) as desk:
        await desk.asks("a")
        await desk.press("3", "enter")
        await desk.shows("would have answered 0")
        await desk.press("enter")
        await desk.shows("allow once", "GRANT task-manager may use Bash")
        await desk.press("U")
        await desk.tells("Nothing was written")
        await desk.asks("a")
        await desk.press("3", "enter")
        await desk.shows("would have answered 0")
        await desk.press("enter")
        await desk.shows("GRANT task-manager may use Bash")
        await desk.press("W")
        await desk.tells("and the same for 2 hours")
    assert {line.action for line in team.audit()} >= {"approve", "grant"}


async def test_permissions_of_one_cause_are_one_row_and_one_verdict_answers_those_that_are_listed(
    team: MemoryTeam,
) -> None:
    listed = [ask_permission(team, f"git push origin branch-{number}") for number in range(3)]
    other = ask_permission(team, "rm -r build")
    async with opened(team, me=LEAD) as desk:
        await desk.shows("Needs you 4", "3 alike: Bash: git push origin …", "branch-0, branch-1", "branch-2")
        await desk.asks("a")
        await desk.shows("Approve 3", "branch-0", "branch-1", "branch-2")
        late = ask_permission(team, "git push origin branch-3")
        await desk.press("ctrl+s")
        await desk.until(lambda: answers(team) == 3, "three answers")
        await desk.shows("git push origin branch-3")
        messages = team.snapshot().messages
        answered = {message.request_id for message in messages if message.type == "permission_response"}
        assert answered == set(listed)
        assert not answered & {late, other}
        for number in (4, 5):
            ask_permission(team, f"git push origin branch-{number}")
        await desk.shows("3 alike")
        while "3 alike" not in desk.detail:
            await desk.press("j")
        await desk.press("enter", "a")  # each a row of its own
        await desk.form()
        await desk.press("enter")
        await desk.until(lambda: answers(team) == 4, "one answer")


async def test_beside_a_request_stands_what_was_decided_on_the_same_before_and_what_came_of_it(
    team: MemoryTeam,
) -> None:
    first = ask_permission(team)
    requests.approve(Caller(team, LEAD), request_id=first, note="but only there")
    ran = {"user": "go on", "calls": [{"tool": "Bash", "subject": "make test", "state": "exit 2"}]}
    ask_permission(team, why=ran)
    async with opened(team, me=LEAD) as desk:
        await desk.shows(
            "decided on the same before", "approved by ceo", "but only there · then", "exit 2  Bash: make test"
        )
