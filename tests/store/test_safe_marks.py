"""No pile of marks covers the lines around, in whichever script, and no mark hides; real writing stays as it is."""

from __future__ import annotations

import unicodedata

import pytest
from team_console.store.model.safe import exact_text, safe_line, safe_text


def test_every_mark_of_unicode_piles_no_higher() -> None:
    marks = [chr(point) for point in range(0x110000) if unicodedata.category(chr(point)) in ("Mn", "Me")]
    high = [mark for mark in marks if mark * 5 in safe_text(f"e{mark * 9}")]
    assert high == []


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


@pytest.mark.parametrize("sign", ["\u180f", "\u2800", "\U00016fe4", "\U0001d159", "\u3164", "\u00a0"])
def test_what_has_no_ink_is_seen_where_a_machine_reads_it(sign: str) -> None:
    assert sign not in exact_text(f"git{sign} push")
