"""A file compared with what is known of it, through a small window and without a second copy."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from team_console.store.backends.yaml import disk, text_change
from team_console.store.backends.yaml.codec import QueueText, stretches
from team_console.store.backends.yaml.codec.stretches import Stretches
from team_console.store.backends.yaml.disk import Disk
from team_console.store.backends.yaml.text_change import Change, TornError, change_in_file

from tests.store.test_codec_following import HEAD, changed, entry


def _file(data: bytes, most: int = 1 << 20) -> Callable[[memoryview, int], int]:
    """A file that gives at most `most` bytes at once."""

    def read(room: memoryview, place: int) -> int:
        some = data[place : place + min(len(room), most)]
        room[: len(some)] = some
        return len(some)

    return read


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows and stretches so small that short texts have many."""
    monkeypatch.setattr(text_change, "_WINDOW", 7)
    monkeypatch.setattr(stretches, "_MANY", 4)
    monkeypatch.setattr(stretches, "_SHORT", 9)


@pytest.mark.usefixtures("small_steps")
@pytest.mark.parametrize("seed", range(20))
def test_a_change_tells_all_of_the_new_text(seed: int) -> None:
    dice = Random(seed)
    known, text = Stretches.of(b""), b""
    for _ in range(40):
        start, stop = sorted(dice.choices(range(len(text) + 1), k=2))
        stop = dice.choice((start, stop))
        text = text[:start] + bytes(dice.choices(b"ab", k=dice.randrange(12))) + text[stop:]
        change = change_in_file(_file(text, dice.choice((3, 100))), len(text), known.views)
        assert change.head + len(change.middle) + change.tail == len(text)
        known = known.exchanged(change.head, change.middle, change.tail)
        assert (known.join(), known.size) == (text, len(text))
        assert known.cut(start, stop) == text[start:stop]


@pytest.mark.usefixtures("small_steps")
@pytest.mark.parametrize("odd", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_following_a_file_tells_what_reading_it_anew_tells(seed: int, odd: bool) -> None:
    dice = Random(seed)
    entries = [entry(number) for number in range(20)]
    text = QueueText.parse(HEAD + b"".join(entries))
    for _ in range(12):
        entries = changed(dice, entries, odd=odd)
        data = HEAD + b"".join(entries)
        text, anew = text.followed(change_in_file(_file(data), len(data), text.stretches.views)), QueueText.parse(data)
        assert text.data() == data
        assert [dict(message.record) for message in text.messages()] == [dict(item.record) for item in anew.messages()]
        assert [item.raw for item in text.entries] == [item.raw for item in anew.entries]


def test_a_file_that_became_shorter_is_not_taken_for_what_it_was() -> None:
    with pytest.raises(TornError):
        change_in_file(_file(b"abc"), 5, Stretches.of(b"abcde").views)


def test_a_file_that_is_the_same_has_no_change(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"abc")
    seen = Disk().read_change(path, Stretches.of(b"abc").views)
    assert seen is not None
    assert seen[0] == Change(3, b"", 0)


@pytest.mark.parametrize("harm", [lambda path: os.truncate(path, 1), lambda path: os.utime(path, ns=(1, 1))])
def test_a_file_that_is_written_meanwhile_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, harm: Callable[[Path], None]
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"abc")
    real = change_in_file

    def meanwhile(*known: object) -> Change:
        harm(path)
        return real(*known)  # type: ignore[arg-type]

    monkeypatch.setattr(disk, "change_in_file", meanwhile)
    assert Disk().read_change(path, Stretches.of(b"abc").views) is None
