"""The shutdown of a team, agent by agent, and the conversation a plan belongs to."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from team_console.store.model.message import Message
from team_console.store.service import inbox, requests, sending
from team_console.store.views.conversation import MOST_LOOKS, gather_thread
from team_console.store.views.history import HistoryPage, newest_archived
from team_console.store.views.stopping import agreed_by_now, ask_to_stop

from tests.equipment.asking import agent, lead
from tests.equipment.memory_team import MemoryTeam
from tests.equipment.teams import FakeClock, config


@pytest.fixture
def team() -> MemoryTeam:
    """Three agents under `ceo`."""
    return MemoryTeam(config=config(), clock=FakeClock())


def test_who_agrees_after_its_wait_is_counted_like_any_other(team: MemoryTeam) -> None:
    stops = [ask_to_stop(lead(team), name, reason=None, timeout=0.0) for name in ("task-manager", "file-manager")]
    assert agreed_by_now(team, stops, me="ceo") == 0
    for stop in stops:
        requests.approve(agent(team, stop.agent), request_id=str(stop.receipt.request_id))
    assert agreed_by_now(team, stops, me="ceo") == 2


class _Counting(MemoryTeam):
    """A team that finds in its archives what names a word, and counts the looks."""

    looks = 0

    def archived(self, *words: str) -> list[Message]:
        self.looks += 1
        return [message for message in super().archived(*words) if any(word in str(message.record) for word in words)]


def test_a_long_talk_is_gathered_from_the_latest_messages_without_a_look_through_the_archives() -> None:
    place = _Counting(config=config(), clock=FakeClock())
    ids: list[str] = []
    for turn in range(20):
        author, reader = ("ceo", "task-manager")[:: 1 if turn % 2 else -1]
        told = sending.send(
            agent(place, author),
            to=reader,
            content=f"Turn {turn}",
            summary="A talk",
            in_reply_to=ids[-1] if ids else None,
        )
        ids += [message.message_id for message in told.messages]
        inbox.receive(agent(place, reader), agent=reader)
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
