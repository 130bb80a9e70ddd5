"""However an action is written for a shell it is asked for, and no text that only names one is."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest
from team_console.console.clients import shell_programs
from team_console.console.clients.rules import rule_for
from team_console.console.clients.shell_reader import commands_in

from tests.equipment.command_line import clean_environment
from tests.hook.real_bash import Bash

TABLE: dict[str, Any] = json.loads((Path(__file__).parent / "data" / "spellings.json").read_text(encoding="utf-8"))
"""`push`: texts that all run `git push`; `started`: rule -> texts for programs that are not on every machine."""
PUSH: list[str] = TABLE["push"]
STARTED = [(rule, text) for rule, texts in TABLE["started"].items() for text in texts]
HARMLESS: list[str] = TABLE["harmless"]
AROUND: list[str] = TABLE["around"]
"""Texts around another: in some of them it runs, in some not."""
HOSTILE: list[str] = TABLE["slow"]
"""Beginnings that a text made to be slow repeats."""


def asked(text: str) -> str:
    """The rule by which a command is asked for where nothing else asks; empty for none."""
    event: dict[str, object] = {"tool_name": "Bash", "tool_input": {"command": text}, "cwd": "/home/you/project"}
    return rule_for(event, ("push", "publish", "delete"), project="/home/you/project")


@pytest.fixture
def bash(tmp_path: Path) -> Bash:
    if not Bash.is_here():
        pytest.skip("no bash here")
    return Bash(tmp_path)


@pytest.mark.parametrize("text", PUSH)
def test_a_push_is_asked_for_however_it_is_written(text: str) -> None:
    assert asked(text) == "push"


@pytest.mark.parametrize(("rule", "text"), STARTED)
def test_an_action_is_asked_for_whatever_starts_it(rule: str, text: str) -> None:
    assert asked(text) == rule


@pytest.mark.parametrize("text", HARMLESS)
def test_a_text_that_only_names_an_action_is_not_asked_for(text: str) -> None:
    assert asked(text) == ""


def test_no_row_of_programs_has_its_options_in_their_name() -> None:
    tables = (value for value in vars(shell_programs).values() if isinstance(value, dict) and "git" not in value)
    names = [name for table in tables for name in table if isinstance(name, str)]
    assert len(names) > 200
    assert [name for name in names if " -" in name] == []


@pytest.mark.slow
def test_each_way_to_write_a_push_runs_it_in_a_real_bash(bash: Bash) -> None:
    assert [text for text in PUSH if bash.has(text.split()) and not bash.pushes(text)] == []


@pytest.mark.slow
def test_no_harmless_text_runs_a_push_in_a_real_bash(bash: Bash) -> None:
    texts = [text for text in HARMLESS if "stash push" not in text and "push" not in text.split()[1:2]]
    named = [text for text in texts if bash.pushes(text)]
    assert [text for text in named if not text.startswith(("git ", "sudo "))] == []


@pytest.mark.slow
def test_what_a_real_bash_runs_within_two_others_is_asked_for(bash: Bash) -> None:
    seed = 20261127
    random = Random(seed)
    texts = [around.replace("%s", inner.replace("%s", "git push")) for around in AROUND for inner in AROUND]
    unasked = [text for text in random.sample(texts, 400) if not asked(text)]
    assert [text for text in unasked if bash.pushes(text)] == [], f"seed {seed}"


_READ = """
import json, sys
from team_console.console.clients.shell_reader import commands_in
length, *units = json.load(sys.stdin)
for unit in units:
    found = commands_in(unit * (length // len(unit) + 1) + "'\\ngit push", "/")
    assert any(command.words[:2] == ["git", "push"] for command in found), unit
"""
_MOST_MEMORY = 2 << 30


@pytest.mark.slow
@pytest.mark.parametrize(
    ("length", "units"),
    [
        (60_000, ("a|",)),
        (100_000, tuple(HOSTILE)),
        (1_000_000, ("(", "<<A\n", "a|", "x=(", "sudo ", "x=a;$x ", "\x00")),
    ],
    ids=["a pipeline", "any beginning", "a megabyte"],
)
def test_a_text_that_is_made_to_be_slow_is_read_within_bounds(length: int, units: tuple[str, ...]) -> None:
    """In a process of its own, for a parser that is overwhelmed takes all memory, or its process with it."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", _READ],
        input=json.dumps([length, *units]).encode(),
        env=clean_environment(),
        capture_output=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY)),
        check=False,
    )
    assert (done.returncode, done.stderr.decode()[-2_000:]) == (0, "")


def test_whatever_pieces_a_text_is_made_of_it_is_read_to_its_end() -> None:
    """What a text breaks off is a text, too; an error would be silence, by which a call passes unasked."""
    seed = 20261128
    random = Random(seed)
    pieces = [*HOSTILE, *AROUND, *PUSH, *HARMLESS, *TABLE["pieces"]]
    for _ in range(3_000):
        text = "".join(random.choices(pieces, k=random.randint(1, 8)))
        at = random.randrange(len(text))
        commands_in(text[:at] + random.choice(pieces) + text[at + random.randint(0, 2) :], "/")


def test_parentheses_as_deep_as_a_text_can_be_are_read() -> None:
    assert asked("(" * 100_000 + "git push" + ")" * 100_000) == "push"
    assert asked("$(" * 2_000 + "git push" + ")" * 2_000) == "push"


def test_a_text_that_runs_itself_comes_to_an_end() -> None:
    for text in TABLE["endless"]:
        assert len(commands_in(f"{text}\ngit push", "/")) < 20_000
        assert asked(f"{text}\ngit push") == "push"
