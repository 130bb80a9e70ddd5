"""The shutdown of a team, agent by agent, and the conversation a plan belongs to."""

from __future__ import annotations

from datetime import UTC, datetime
from types import MappingProxyType

from msgspec.structs import replace
from team_console.store.model.message import Message
from team_console.store.service import inbox, requests, sending
from team_console.store.service.caller import Caller
from team_console.store.settings.team_config import Agent, TeamConfig
from team_console.store.views.conversation import MOST_LOOKS, gather_thread, turns_of
from team_console.store.views.history import HistoryPage, newest_archived
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
    thread = gather_thread(place, snapshot, str(second.request_id), HistoryPage(), rows)
    assert thread is not None
    turns = list(turns_of(thread, rows))
    said = {turn.message.message_id for turn in turns}
    assert {message.message_id for receipt in (first, second) for message in receipt.messages} <= said
    assert any("add tests" in turn.message.content for turn in turns)
    assert {(turn.version, turn.versions) for turn in turns if turn.request is not None} == {(1, 2), (2, 2)}
    assert thread.is_whole
    assert gather_thread(place, snapshot, "nothing", HistoryPage()) is None


def test_who_agrees_after_its_wait_is_counted_like_any_other() -> None:
    place = team()
    lead = Caller(place, "ceo")
    stops = [ask_to_stop(lead, name, reason=None, timeout=0.0) for name in ("task-manager", "file-manager")]
    assert agreed_by_now(place, stops, me="ceo") == 0
    for stop in stops:
        requests.approve(Caller(place, stop.agent), request_id=str(stop.receipt.request_id))
    assert agreed_by_now(place, stops, me="ceo") == 2


class _Counting(MemoryTeam):
    """A team that finds in its archives what names a word, and counts the looks."""

    looks = 0

    def archived(self, *words: str) -> list[Message]:
        self.looks += 1
        return [message for message in super().archived(*words) if any(word in str(message.record) for word in words)]


def test_a_long_talk_is_gathered_from_the_latest_messages_without_a_look_through_the_archives() -> None:
    place = _Counting(config=team().snapshot().config, clock=lambda: NOW)
    ids: list[str] = []
    for turn in range(20):
        author, reader = ("ceo", "task-manager")[:: 1 if turn % 2 else -1]
        told = sending.send(
            Caller(place, author),
            to=reader,
            content=f"Turn {turn}",
            summary="A talk",
            in_reply_to=ids[-1] if ids else None,
        )
        ids += [message.message_id for message in told.messages]
        inbox.receive(Caller(place, reader), agent=reader)
    snapshot, place.looks = place.snapshot(), 0
    known = newest_archived(place, limit=100)
    whole = gather_thread(place, snapshot, ids[0], known)
    assert whole is not None
    assert {message.message_id for message in whole.messages} == set(ids)
    assert (whole.is_whole, place.looks) == (True, 0)
    nothing_left = replace(snapshot, messages=())
    part = gather_thread(place, nothing_left, ids[0], HistoryPage())
    assert part is not None
    assert (part.is_whole, place.looks) == (False, MOST_LOOKS)
