"""`receive --limit`: of what waits the most urgent, whatever stands before it in the table."""

from __future__ import annotations

from team_console.store.backends.sql.team import SqlTeam
from team_console.store.model.message import Message
from team_console.store.service.caller import Caller
from team_console.store.service.inbox import receive

from tests.equipment.teams import FakeClock, make_message, put
from tests.sql.worker import AGENT


def _next(team: SqlTeam, *, limit: int = 1, type: str | None = None, lease: float | None = None) -> list[str]:
    got = receive(Caller(team, AGENT, wait=5.0), agent=AGENT, limit=limit, type=type, lease=lease)
    return [message.message_id[-1] for message in got.messages]


def _mine(number: int, priority: str = "medium", **changes: object) -> Message:
    return make_message(number, to=AGENT, priority=priority, **changes)


def test_the_most_urgent_is_handed_out_first(team: SqlTeam) -> None:
    put(team, _mine(1, "low"), _mine(2), _mine(3, "critical"), _mine(4))
    assert [_next(team), _next(team, limit=2), _next(team), _next(team)] == [["3"], ["2", "4"], ["1"], []]


def test_an_urgent_one_takes_no_place_while_it_is_held_and_comes_first_when_it_was_not_acknowledged_in_time(
    team: SqlTeam, clock: FakeClock
) -> None:
    put(team, _mine(1), _mine(2, "critical"), _mine(3))
    assert [_next(team, lease=60), _next(team)] == [["2"], ["1"]]
    clock.advance(61)
    assert [_next(team), _next(team)] == [["2"], ["3"]]


def test_what_the_agent_read_and_others_did_not_hides_nothing(team: SqlTeam) -> None:
    put(team, make_message(1, to="all"), _mine(2))
    assert [_next(team), _next(team), _next(team)] == [["1"], ["2"], []]


def test_what_is_for_several_others_is_passed_over(team: SqlTeam) -> None:
    others = make_message(1, to="architect", to_agents=["architect", "ceo"], sender="architect")
    put(team, others, _mine(2))
    assert [_next(team), _next(team)] == [["2"], []]


def test_of_one_kind_the_others_stay(team: SqlTeam) -> None:
    put(team, _mine(1, "critical"), _mine(2, type="broadcast"), _mine(3, type="broadcast"))
    assert [_next(team, type="broadcast"), _next(team)] == [["2"], ["1"]]


def test_what_the_router_pushed_is_named_beside_what_is_handed_out(team: SqlTeam) -> None:
    put(team, _mine(1), _mine(2).with_changes(status="delivered"))
    got = receive(Caller(team, AGENT, wait=5.0), agent=AGENT)
    assert [[message.message_id[-1] for message in some] for some in (got.messages, got.delivered)] == [["1"], ["2"]]


def test_those_of_one_moment_are_handed_out_as_they_came(team: SqlTeam, clock: FakeClock) -> None:
    put(team, *[make_message(number, to=AGENT, created=make_message(1).created) for number in (3, 1, 2)])
    assert _next(team, lease=60) == ["3"]  # a row that is changed moves behind the others
    clock.advance(61)
    got = receive(Caller(team, AGENT, wait=5.0), agent=AGENT)
    assert [message.message_id[-1] for message in got.messages] == ["3", "1", "2"]
