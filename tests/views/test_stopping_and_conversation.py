"""The shutdown of a team, agent by agent, and the conversation a plan belongs to."""

from __future__ import annotations

from datetime import UTC, datetime
from types import MappingProxyType

from team_console.store.service import inbox, requests
from team_console.store.service.caller import Caller
from team_console.store.settings.team_config import Agent, TeamConfig
from team_console.store.views.conversation import find_thread, turns_of
from team_console.store.views.projection import view_of
from team_console.store.views.roster import Stage, stops_of
from team_console.store.views.rows import View
from team_console.store.views.stopping import agreed_by_now, ask_to_stop

from tests.equipment.memory_team import MemoryTeam

NAMES = ("ceo", "task-manager", "file-manager", "schedule-manager")
NOW = datetime(2026, 2, 24, 10, 30, tzinfo=UTC)


def team() -> MemoryTeam:
    """Three agents under `ceo`."""
    agents = MappingProxyType({name: Agent(name) for name in NAMES})
    return MemoryTeam(config=TeamConfig(name="sprint-42", lead="ceo", agents=agents, declared=True), clock=lambda: NOW)


def view(place: MemoryTeam) -> View:
    """What the lead sees."""
    return view_of(place.snapshot(), me="ceo", now=NOW)


def test_every_agent_of_a_shutdown_is_told_with_what_became_of_it() -> None:
    place = team()
    lead = Caller(place, "ceo")
    refused, waiting = (requests.request_shutdown(lead, agent=name) for name in ("task-manager", "file-manager"))
    requests.reject(
        Caller(place, "task-manager"), request_id=str(refused.request_id), reason="Three exports are still running"
    )
    rows = {row.agent: row for row in stops_of(view(place))}
    assert set(rows) == set(NAMES) - {"ceo"}
    told = rows["task-manager"]
    assert told.request is not None
    assert (told.stage, told.request.reason) == (Stage.REFUSED, "Three exports are still running")
    assert rows["file-manager"].stage is Stage.WRITTEN
    assert rows["schedule-manager"].stage is Stage.NOT_ASKED
    assert all(row.is_left for row in rows.values())
    inbox.receive(Caller(place, "file-manager"), agent="file-manager")
    assert {row.agent: row for row in stops_of(view(place))}["file-manager"].stage is Stage.SEEN
    requests.approve(Caller(place, "file-manager"), request_id=str(waiting.request_id))
    last = {row.agent: row for row in stops_of(view(place))}["file-manager"]
    assert last.stage in (Stage.AGREED, Stage.ENDED)


def test_a_conversation_holds_the_versions_of_a_plan_and_their_verdicts_in_order() -> None:
    place = team()
    author, lead = Caller(place, "task-manager"), Caller(place, "ceo")
    first = requests.submit_plan(author, content="1. Split", summary="Split the loader from the renderer")
    requests.reject(lead, request_id=str(first.request_id), reason="add tests")
    second = requests.submit_plan(author, content="1. Split\n2. Test", summary="Split the loader from the renderer")
    snapshot = place.snapshot()
    rows = view(place).requests
    thread = find_thread(str(second.request_id), snapshot.messages, place.archived, rows=rows)
    assert thread is not None
    turns = list(turns_of(thread, rows))
    said = {turn.message.message_id for turn in turns}
    assert {message.message_id for receipt in (first, second) for message in receipt.messages} <= said
    assert any("add tests" in turn.message.content for turn in turns)
    assert {(turn.version, turn.versions) for turn in turns if turn.request is not None} == {(1, 2), (2, 2)}
    assert thread.is_whole
    assert find_thread("nothing", snapshot.messages, place.archived) is None


def test_who_agrees_after_its_wait_is_counted_like_any_other() -> None:
    place = team()
    lead = Caller(place, "ceo")
    stops = [ask_to_stop(lead, name, reason=None, timeout=0.0) for name in ("task-manager", "file-manager")]
    assert agreed_by_now(place, stops, me="ceo") == 0
    for stop in stops:
        requests.approve(Caller(place, stop.agent), request_id=str(stop.receipt.request_id))
    assert agreed_by_now(place, stops, me="ceo") == 2
