"""No pile of marks covers the lines around, in whichever script, and no mark hides; real writing stays as it is."""

from __future__ import annotations

import unicodedata

import pytest
from team_console.store.model.safe import safe_line, safe_text

_PILES = [
    "\u0301",
    "\u05c7",
    "\u0730",
    "\u0902",
    "\u0903",
    "\u0e47",
    "\u0f71",
    "\u1161",
    "\u1cd0",
    "\u2de0",
    "\u3099",
    "\ua670",
    "\ua8e0",
    "\ud7cb",
    "\U000101fd",
    "\U0001d165",
    "\U0001e8d0",
    "\u2de0\u0301",
]


@pytest.mark.parametrize("mark", _PILES, ids=ascii)
def test_a_pile_is_cut_after_its_fourth_mark(mark: str) -> None:
    pile = mark * 2_000
    assert safe_line(f"e{pile}x") == f"e{pile[:4]}\ufffdx"


def test_every_mark_of_unicode_piles_no_higher() -> None:
    marks = [chr(point) for point in range(0x110000) if unicodedata.category(chr(point)) in ("Mn", "Me")]
    high = [mark for mark in marks if mark * 5 in safe_text(f"e{mark * 9}")]
    assert high == []


_HIDDEN = ["ceo\ufe00", "ceo\ufe0f", "1\ufe0f", "r\ufe00m\ufe01", "👩\ufe0f\ufe0f", "a\U00013430b", "x\ufff1"]


@pytest.mark.parametrize("text", _HIDDEN, ids=ascii)
def test_what_cannot_be_seen_is_shown(text: str) -> None:
    assert "\ufffd" in safe_line(text)


_WRITING = [
    "रिपोर्ट जनरेटर को पुनर्गठित करें",
    "ปรับปรุงตัวสร้างรายงานที่นี่",
    "بَيْتٌ؟؟؟؟؟",
    "שָׁלוֹם",
    "བོད་སྐད་ཡིག",
    unicodedata.normalize("NFD", "보고서 생성기 리팩터링"),
    unicodedata.normalize("NFD", "Việt Nam, Größe"),
    "1\ufe0f\u20e3 ✔\ufe0f ☎\ufe0e ©\ufe0f 🏳\ufe0f\u200d🌈 👍🏽",
    "（重构）…………——！！！！！",
    "।।।।। ════════ →→→→→→",
]


@pytest.mark.parametrize("text", _WRITING)
def test_writing_stays_as_it_is(text: str) -> None:
    assert safe_line(text) == text
