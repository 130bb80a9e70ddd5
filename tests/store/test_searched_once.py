"""A word looked for several times in one text of a queue: the bytes are searched once, and never of another text."""

from __future__ import annotations

import pytest
from team_console.store.backends.yaml.codec import queue_text
from team_console.store.backends.yaml.codec.queue_text import QueueText
from team_console.store.backends.yaml.codec.word_search import entries_with

_ENTRY = "- message_id: {0}\n  type: message\n  from: a\n  to: b\n  payload:\n    content: about {1}\n"


def _queue(*entries: tuple[str, str]) -> bytes:
    return ("messages:\n" + "".join(_ENTRY.format(*entry) for entry in entries)).encode()


def test_a_word_is_searched_for_once_in_a_text_and_anew_in_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    searched = list[bytes]()

    def counted(word: bytes, data: bytes, starts: list[int]) -> object:
        searched.append(word)
        return entries_with(word, data, starts)

    monkeypatch.setattr(queue_text, "entries_with", counted)
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
    assert len(text._held) <= queue_text._FEW_WORDS
