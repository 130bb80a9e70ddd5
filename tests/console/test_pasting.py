"""A paste is text: it comes once, it is no key, whatever stands in it and however it reaches us."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator

import pytest
from team_console.console.tui import textual_fixes
from team_console.console.tui.textual_fixes import PasteParser
from team_console.widgets.fields import Note
from team_console.widgets.line_field import Field
from textual.app import App, ComposeResult
from textual.events import Key, Paste
from textual.message import Message
from textual.widget import Widget

from tests.equipment.cases import cases
from tests.equipment.waiting import until

START, END = "\x1b[200~", "\x1b[201~"
LOG = "a build \x1b[31mfailed\x1b[0m\nsee \x1b]8;;http://x\x1b\\here\x1b]8;;\x1b\\\n\x1b[38;2;1;2;3mq\x1b[m done\n"
PLAIN = "a build failed\nsee here\nq done\n"


def heard(pieces: Iterable[str]) -> list[str]:
    """What these pieces of input are: texts that were pasted, and keys in brackets."""
    parser = PasteParser()
    return list(_told(message for piece in pieces for message in parser.feed(piece)))


def _told(messages: Iterable[Message]) -> Iterator[str]:
    for message in messages:
        if isinstance(message, Paste):
            yield message.text
        elif isinstance(message, Key):
            yield f"[{message.key}]"


def split(text: str, chance: random.Random) -> list[str]:
    """`text` in pieces as a slow line may bring it."""
    places = sorted(chance.sample(range(1, len(text)), chance.randrange(1, 6)))
    return [text[start:end] for start, end in zip([0, *places], [*places, len(text)], strict=True)]


def test_what_stands_in_a_paste_is_no_key() -> None:
    assert heard([f"j{START}{LOG}{END}k"]) == ["[j]", PLAIN, "[k]"]


@cases
def test_no_sequence_in_a_paste_is_a_key(sequence: str) -> None:
    assert [item for item in heard([f"{START}a{sequence}b{END}"]) if item.startswith("[")] == []


@cases
def test_a_number_that_no_terminal_means_ends_no_reading_of_keys(sequence: str) -> None:
    told = heard([f"j{sequence}k{START}q{END}l"])
    assert [item for item in told if not item.startswith("[<")] == ["[j]", "[k]", "q", "[l]"]


def test_a_paste_in_pieces_is_the_same_paste() -> None:
    chance, whole = random.Random(20), f"j{START}{LOG}{END}k{START}{END}\x1b[A{START}q\x1b{END}l"
    told = heard([whole])
    assert told == ["[j]", PLAIN, "[k]", "", "[up]", "q\x1b", "[l]"]
    for number in range(400):
        pieces = split(whole, chance)
        assert heard(pieces) == told, f"seed 20, number {number}: {pieces}"


@pytest.mark.parametrize(("key", "name"), [("\x1b", "escape"), ("\x1b[27u", "escape"), ("\x11", "ctrl+q")])
def test_a_paste_that_never_ends_is_left_by_a_key_after_a_silence(
    monkeypatch: pytest.MonkeyPatch, key: str, name: str
) -> None:
    now = [100.0]
    monkeypatch.setattr(textual_fixes, "monotonic", lambda: now[0])
    parser = PasteParser()

    def heard_after(seconds: float, data: str) -> list[str]:
        now[0] += seconds
        return list(_told(parser.feed(data)))

    assert heard_after(0.0, f"{START}a text") == []
    assert heard_after(5.0, "jk") == []
    assert heard_after(0.5, key) == []
    pasted, *keys = heard_after(2.0, f"{key}")
    assert pasted.startswith("a textjk")

    def is_told() -> bool:  # a lone escape could be the beginning of a sequence
        keys.extend(_told(parser.tick()))
        return bool(keys)

    until(is_told)
    assert keys == [f"[{name}]"]


class _Fields(App[None]):
    def compose(self) -> ComposeResult:
        yield Field(id="field")
        yield Note(id="note")


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("kind", "shown"), [(Field, "one⏎two ␛"), (Note, "one\ntwo ␛\n")], ids=["one line", "several lines"]
)
@cases
async def test_a_paste_comes_once_and_is_safe_to_show(kind: type[Widget], shown: str, newline: str) -> None:
    app = _Fields()
    async with app.run_test() as pilot:
        there = app.query_one(kind)
        there.focus()
        await pilot.pause()
        app.post_message(Paste("one\ntwo \x1b\n".replace("\n", newline)))
        await pilot.pause()
        assert (there.value if isinstance(there, Field) else there.text if isinstance(there, Note) else "") == shown
