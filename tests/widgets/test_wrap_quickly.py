"""A plain line is wrapped the short way, and looks as if it had gone the long way."""

from __future__ import annotations

import random

import pytest
from team_console.store.model import safe
from team_console.store.model.safe import safe_text
from team_console.widgets import text as cells
from team_console.widgets.text import Line, text_of, wrap

SEED = 7


def lines() -> list[Line]:
    """Lines of all sorts, the same ones each time."""
    dice = random.Random(SEED)
    some = [
        "",
        " ",
        "word",
        "two words",
        "  lead",
        "trail  ",
        "a" * 30,
        "\t",
        "日本語",
        "e\u0301",
        "1. item",
        "tab\tin",
    ]
    tones = ["", "", "muted", "code"]
    return [tuple((dice.choice(some), dice.choice(tones)) for _ in range(dice.randrange(5))) for _ in range(400)]


@pytest.mark.parametrize("rest", [(), (("    ", ""),)])
def test_the_short_way_ends_where_the_long_way_does(monkeypatch: pytest.MonkeyPatch, rest: Line) -> None:
    some = [((text_of(line), "muted"),) for line in lines()]
    shortly = [wrap(line, width, rest=rest) for line in some for width in (1, 8, 20, 200)]
    monkeypatch.setattr(cells, "_wrapped_plainly", lambda line, width, rest: None)
    assert shortly == [wrap(line, width, rest=rest) for line in some for width in (1, 8, 20, 200)]


@pytest.mark.parametrize("text", ["one\ntwo\t.\n", "a\r\nb", "a\rb", "\x1b[0m\n", "\x7f", "\n", "", "a\x0bb", "日\n本"])
def test_a_plain_text_is_safe_as_it_is_and_no_other(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    shortly = safe_text(text)
    monkeypatch.setattr(safe, "_BREAKS", {})
    assert safe_text(text) == shortly
