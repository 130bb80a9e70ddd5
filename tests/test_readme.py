"""README.md and docs/ say what the code does: tables and transcripts are made from it, links and commands exist."""

from __future__ import annotations

import ast
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import takewhile
from pathlib import Path

import pytest
from team_console.console.cli.main import VERBS, find_verb, parser_for
from team_console.console.split_verb import split_verb

from tests.equipment.command_line import ROOT
from tests.equipment.transcripts import shown_commands, with_transcripts
from tests.man_page import PAGE, examples, man_page
from tests.readme import PARTS, README, pages, parts_in, with_parts

pytestmark = pytest.mark.slow

PAGES = {str(path.relative_to(ROOT)): path for path in pages()}
TEXTS = {name: path.read_text(encoding="utf-8") for name, path in PAGES.items()}
every_page = pytest.mark.parametrize("page", sorted(PAGES))


@every_page
def test_every_part_made_from_code_is_current(page: str) -> None:
    assert with_parts(TEXTS[page]) == TEXTS[page], "run: python -m tests.readme"


@every_page
def test_every_transcript_is_what_its_commands_print(page: str) -> None:
    assert with_transcripts(TEXTS[page]) == TEXTS[page], "run: python -m tests.readme"


def test_every_part_is_on_a_page_and_no_row_of_one_is_without_a_meaning() -> None:
    assert {name for text in TEXTS.values() for name in parts_in(text)} == set(PARTS)
    assert [row for row in TEXTS["docs/reference/json.md"].splitlines() if row.endswith("|  |")] == []


def test_a_transcript_that_was_changed_by_hand_is_noticed() -> None:
    made_up = "```console\n$ team-console init --lead ceo\nmade team {} in .: ceo leads nobody yet\n```\n"
    real = with_transcripts(made_up.format("other"))
    assert real != made_up.format("other")
    assert real.startswith(made_up.format("sprint-42").removesuffix("```\n"))
    assert with_transcripts(real) == real


@every_page
def test_every_link_leads_somewhere(page: str) -> None:
    broken = []
    for path, _, anchor in (link.partition("#") for link in re.findall(r"\]\((?!\w+:)([^)\s]+)\)", TEXTS[page])):
        target = (PAGES[page].parent / path) if path else PAGES[page]
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(f"{path}#{anchor}")
    assert broken == []


def test_every_picture_is_on_a_page() -> None:
    pictures = {path.name for path in (ROOT / "screenshots").iterdir() if path.suffix in (".svg", ".png")}
    assert pictures == {name for text in TEXTS.values() for name in re.findall(r"screenshots/([\w.-]+)\)", text)}


def anchors(page: Path) -> set[str]:
    """The anchors of its headings, as a forge makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


PLACEHOLDERS = {"N": "1", "AGE": "2h", "SECONDS": "5", "LINE:TEXT": "1:x", "RULE": "push", "SHELL": "bash", "..": "mcp"}
"""What a reader would write in place of a word that an argument does not take as it is."""


def parse(words: Sequence[str]) -> None:
    """Read a command as the program does; `TeamError` for an unknown verb or option, or where something is missing."""
    alone = takewhile(lambda word: word not in ("<", ">", ">>", "|"), words[1:])
    name, rest = split_verb([PLACEHOLDERS.get(word, word) for word in alone])
    with suppress(SystemExit):  # it prints its help
        parser_for(find_verb(name) if name else None).parse_args(rest)


@every_page
def test_every_command_in_a_block_or_in_a_line_of_text_can_be_typed(page: str) -> None:
    in_lines = re.findall(r"`(team-console(?: [^`\[|&]+)?)`", TEXTS[page])
    for words in (*shown_commands(TEXTS[page]), *map(shlex.split, in_lines)):
        parse(words)


def printed_commands() -> Iterator[tuple[Path, str]]:
    """Every command that a text of the program tells somebody to type, with `X` for what is put in."""
    for path in (path for package in ("store", "console", "widgets") for path in (ROOT / package).rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
        for node in ast.walk(tree):
            text = ""
            if isinstance(node, ast.JoinedStr):
                text = "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
                text = node.value.replace("{}", "X")
            for verb in re.findall(r"(?:: |')team-console (\w+[^'\n]*)", text):
                if verb.split()[0] in {known.name for known in VERBS}:
                    yield path, "team-console " + re.split(r"[;,.](?: |$)|, or ", verb)[0]


def test_every_command_that_the_program_tells_can_be_typed() -> None:
    commands = [*printed_commands()]
    assert len(commands) > 40
    for _, command in commands:
        parse(shlex.split(command.replace("member X", "member add"), comments=True))


@pytest.mark.parametrize("name", [verb.name for verb in VERBS if verb.group])
def test_the_help_of_every_verb_has_an_example_that_can_be_typed(name: str) -> None:
    commands = [shlex.split(line[line.index("team-console ") :], comments=True) for line in examples(name)]
    assert any(name in words for words in commands)
    for words in commands:
        parse(words)


def test_the_readme_stays_short() -> None:
    assert len(TEXTS["README.md"].splitlines()) <= 220
    assert README.stat().st_size <= 13_000


def test_the_man_page_is_current_and_without_a_warning() -> None:
    assert PAGE.read_text(encoding="utf-8") == man_page(), "run: python -m tests.readme"
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed")
    command = ["groff", "-man", "-Tutf8", "-ww", "-z", str(PAGE)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stderr == ""
