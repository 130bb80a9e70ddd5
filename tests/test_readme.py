"""The README says what the code does: its tables are made from it, its links and commands exist."""

from __future__ import annotations

import re
import shlex

import pytest

from console.cli.registry import VERBS
from tests.conftest import ROOT
from tests.readme import PARTS, README, with_parts

TEXT = README.read_text(encoding="utf-8")


def test_every_part_made_from_code_is_current() -> None:
    assert with_parts(TEXT) == TEXT, "run: python -m tests.readme"


@pytest.mark.parametrize("name", sorted(PARTS))
def test_a_part_that_was_changed_by_hand_is_noticed(name: str) -> None:
    changed = TEXT.replace(f"<!-- {name} -->\n", f"<!-- {name} -->\nsomething else\n")
    assert with_parts(changed) != changed


def test_every_picture_and_file_it_links_to_is_there() -> None:
    links = re.findall(r"\]\((?!https?://|#)([^)#]+)", TEXT)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_every_command_it_shows_is_a_verb() -> None:
    lines = [line for line in TEXT.splitlines() if line.startswith("$ team-console")]
    shown = [shlex.split(line.removeprefix("$ "), comments=True) for line in lines]
    words = {word for line in shown for word in line[1:] if word in {verb.name for verb in VERBS}}
    assert len(words) > 8
    for line in shown:
        assert len(line) == 1 or any(word in {verb.name for verb in VERBS} or word.startswith("-") for word in line[1:])
