"""A word looked for several times in one text of a queue: the bytes are searched once, and never of another text."""

from __future__ import annotations

from pathlib import Path

import pytest
from team_console.store.backends.open import open_team
from team_console.store.backends.yaml.codec import emit, held_words
from team_console.store.backends.yaml.codec.queue_text import QueueText
from team_console.store.backends.yaml.codec.word_search import entries_with
from team_console.store.model.errors import TeamError
from team_console.store.service import requests, sending
from team_console.store.service.caller import Caller

from tests.store.contract import make_message

_ENTRY = "- message_id: {0}\n  type: message\n  from: a\n  to: b\n  payload:\n    content: about {1}\n"


def _queue(*entries: tuple[str, str]) -> bytes:
    return ("messages:\n" + "".join(_ENTRY.format(*entry) for entry in entries)).encode()


def test_a_word_is_searched_for_once_in_a_text_and_anew_in_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    searched = list[bytes]()

    def counted(word: bytes, data: bytes, starts: list[int]) -> object:
        searched.append(word)
        return entries_with(word, data, starts)

    monkeypatch.setattr(held_words, "entries_with", counted)
    text = QueueText.parse(_queue(("M1", "roses"), ("M2", "lilies"), ("M3", "roses")))
    for _ in range(3):
        assert [message.message_id for message in text.holding([b"roses"])] == ["M1", "M3"]
        assert [message.message_id for message in text.holding([b"lilies"])] == ["M2"]
    assert searched.count(b"roses") == searched.count(b"lilies") == 1
    after = QueueText.parse(_queue(("M1", "roses"), ("M2", "roses"), ("M3", "lilies")), text)
    assert [message.message_id for message in after.holding([b"roses"])] == ["M1", "M2"]
    assert [message.message_id for message in text.holding([b"roses"])] == ["M1", "M3"]


def test_many_different_words_are_not_all_remembered() -> None:
    text = QueueText.parse(_queue(*((f"M{number}", f"word{number}x") for number in range(20))))
    for number in range(20):
        assert [message.message_id for message in text.holding([f"word{number}x".encode()])] == [f"M{number}"]
    assert len(text._held) <= held_words._MOST


def _followed() -> QueueText:
    """A queue that was looked at as the console looks at it, and one message after that."""
    text = QueueText.parse(b"messages:\n" + b"".join(emit(make_message(number)) for number in range(30)))
    text.distinct()
    text.holding([b"number 7"])
    return QueueText.parse(text.data() + emit(make_message(100)), text)


def test_a_word_is_not_searched_for_again_after_messages_came_or_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    text = _followed()
    monkeypatch.setattr(held_words, "entries_with", lambda *_: pytest.fail("all bytes were searched"))
    for number in (101, 102):
        text = text.edit(append=[make_message(number)])
        text = QueueText.parse(text.data() + emit(make_message(number + 70)), text)
        text = text.edit(replace={3: text.messages()[3].with_changes(error_message=f"number 7, {number}")})
    found = [message.message_id for message in text.holding([b"number 7"])]
    assert found == [make_message(number).message_id for number in (3, 7)]
    text = text.edit(replace={3: text.messages()[3].with_changes(error_message="")})
    assert [message.message_id for message in text.holding([b"number 7"])] == [make_message(7).message_id]


def test_an_id_that_no_message_has_is_not_searched_for(monkeypatch: pytest.MonkeyPatch) -> None:
    text = _followed()
    monkeypatch.setattr(QueueText, "_search", lambda *_: pytest.fail("all bytes were searched"))
    for number in (101, 102, 103):
        assert text.find(make_message(number).message_id) is None
        text = text.edit(append=[make_message(number)])


def test_an_id_that_came_back_or_went_is_told_by_each_text_for_itself() -> None:
    text, wanted = _followed(), make_message(100).message_id
    without = text.edit(remove=[30])
    again = without.edit(append=[make_message(100)])
    assert [list(some.places(wanted)) for some in (text, without, again)] == [[30], [], [30]]
    assert [some.find("MSG-none") for some in (text, without, again)] == [None] * 3


def test_two_that_share_an_id_are_both_found_after_one_went() -> None:
    text = _followed().edit(append=[make_message(100)])
    wanted = make_message(100).message_id
    assert list(text.places(wanted)) == [30, 31]
    assert list(text.edit(remove=[31]).places(wanted)) == [30]


def test_sends_under_ids_of_the_senders_search_no_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each asks whether a request has the id already, and who is a member; both are known from the send before."""
    (tmp_path / "messenger-config.yaml").write_text("lead: ceo\nagents:\n  task-manager: {}\n")
    queue = "messages:\n" + "".join(emit(make_message(number)).decode() for number in range(30))
    (tmp_path / "message-queue.yaml").write_text(queue)
    team, other = open_team(str(tmp_path)), open_team(str(tmp_path))

    def sends(numbers: range) -> None:
        for number in numbers:
            for opened in (other, team):
                wanted = f"MSG-own-{number}-{opened is team}"
                sending.send(Caller(opened, "ceo"), to="task-manager", content="c", summary="s", message_id=wanted)

    team.snapshot()
    other.snapshot()
    sends(range(1))
    for number in range(1, 7):
        plan = requests.submit_plan(Caller(team, "task-manager"), content="1. Split", summary="s").request_id
        with monkeypatch.context() as patch:
            patch.setattr(held_words, "entries_with", lambda *_: pytest.fail("all bytes were searched"))
            sends(range(number, number + 1))
    with pytest.raises(TeamError, match="plan request of task-manager"):
        sending.send(Caller(team, "ceo"), to="task-manager", content="c", summary="s", message_id=plan)
