"""No pile of marks covers the lines around, in whichever script, and no mark hides; real writing stays as it is."""

from __future__ import annotations

import unicodedata

from team_console.store.model.safe import exact_text, safe_line, safe_text

from tests.equipment.cases import cases


def test_every_mark_of_unicode_piles_no_higher() -> None:
    marks = [chr(point) for point in range(0x110000) if unicodedata.category(chr(point)) in ("Mn", "Me")]
    high = [mark for mark in marks if mark * 5 in safe_text(f"e{mark * 9}")]
    assert high == []


@cases
def test_writing_stays_as_it_is(text: str) -> None:
    assert safe_line(text) == text


@cases
def test_what_has_no_ink_is_seen_where_a_machine_reads_it(sign: str) -> None:
    assert sign not in exact_text(f"git{sign} push")
