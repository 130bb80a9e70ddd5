"""Markdown is read so that nothing written is left out, and nothing in it can act."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import pytest
from team_console.widgets.document import prose
from team_console.widgets.text import Line, text_of

from tests.equipment.cases import cases


def texts(groups: Iterable[Sequence[Line]]) -> list[str]:
    return [text_of(line) for group in groups for line in group]


def test_tasks_show_what_is_done() -> None:
    assert texts(prose("- [x] done\n- [ ] open", 40)) == ["☑ done", "☐ open"]


@cases
def test_what_a_markdown_reader_would_hide_is_shown(text: str) -> None:
    assert texts(prose(text, 120)) == [text]


def test_code_blocks_are_shown_line_by_line_with_their_language() -> None:
    lines = texts(prose("```python\nif x:\n    y = '**a**'\n```\nafter", 60))
    assert lines == ["│ python", "│ if x:", "│     y = '**a**'", "after"]


def test_a_table_is_drawn_in_columns_and_no_cell_is_lost() -> None:
    table = "| File | Lines |\n|:--|--:|\n| a.py | 7 | more |\n| `b|c` and \\| d | 12 |\n"
    assert texts(prose(table, 40)) == [
        f" File │      Lines │      {' ' * 14}",
        f"──────┼────────────┼──────{' ' * 14}",
        f" a.py │          7 │ more {' ' * 14}",
        f" `b   │ c` and | d │ 12   {' ' * 14}",
        "",
    ]


@pytest.mark.parametrize("width", [80, 40, 20, 8])
def test_however_narrow_a_table_is_all_of_its_letters_are_there(width: int) -> None:
    table = "| a | b |\n|---|---|\n| 中文的名字很长 | a cell of many words, longer than there is room |\n| x |"
    shown = re.sub(r"[\s│┼─|-]", "", "".join(texts(prose(table, width))))
    assert sorted(shown) == sorted(re.sub(r"[\s|-]", "", table))


def test_a_fence_that_never_ends_hides_nothing() -> None:
    assert texts(prose("```\nlast words", 60)) == ["│ last words"]


def test_a_text_in_three_quotes_is_one_text_also_where_the_screen_breaks_it() -> None:
    groups = list(prose('```python\n"""All of it in order for us"""\n```', 24))
    assert [[tone for _, tone in line[1:]] for line in groups[1]] == [["good"], ["good"]]
