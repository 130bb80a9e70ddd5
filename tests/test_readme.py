"""The README says what the code does: its tables are made from it, its links and commands exist."""

from __future__ import annotations

import re

import pytest
from team_console.console.cli.registry import VERBS

from tests.conftest import ROOT, needs
from tests.readme import PARTS, README, with_parts
from tests.transcripts import shown_commands, with_transcripts

pytestmark = pytest.mark.slow

TEXT = README.read_text(encoding="utf-8")


def test_every_part_made_from_code_is_current() -> None:
    assert with_parts(TEXT) == TEXT, "run: python -m tests.readme"


def test_every_transcript_is_what_its_commands_print() -> None:
    needs("ssh-keygen")
    assert with_transcripts(TEXT) == TEXT, "run: python -m tests.readme"


def test_a_transcript_that_was_changed_by_hand_is_noticed() -> None:
    made_up = "```console\n$ team-console init --lead ceo\nmade team {} in .: ceo leads nobody yet\n```\n"
    real = with_transcripts(made_up.format("other"))
    assert real != made_up.format("other")
    assert real.startswith(made_up.format("sprint-42").removesuffix("```\n"))
    assert with_transcripts(real) == real


def test_ids_in_later_commands_follow_those_that_were_printed() -> None:
    plan = "plan_approval-1700000000000@a1@sprint-42"
    text = (
        "```console\n$ team-console init --agent a1\n"
        f"$ team-console --as a1 plan --content 'Go on'\n{plan}\n"
        f"$ team-console approve {plan}\n```\n"
    )
    made = with_transcripts(text)
    assert plan not in made
    assert "approved the plan of a1" in made


@pytest.mark.parametrize("name", sorted(PARTS))
def test_a_part_that_was_changed_by_hand_is_noticed(name: str) -> None:
    changed = TEXT.replace(f"<!-- {name} -->\n", f"<!-- {name} -->\nsomething else\n")
    assert with_parts(changed) != changed


def test_every_picture_and_file_it_links_to_is_there() -> None:
    links = re.findall(r"\]\((?!https?://|#)([^)#]+)", TEXT)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_every_command_it_shows_is_a_verb() -> None:
    shown = list(shown_commands(TEXT))
    words = {word for line in shown for word in line[1:] if word in {verb.name for verb in VERBS}}
    assert len(words) > 8
    for line in shown:
        assert len(line) == 1 or any(word in {verb.name for verb in VERBS} or word.startswith("-") for word in line[1:])
