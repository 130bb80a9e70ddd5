"""Settings read without PyYAML: what the quick reader takes it reads as PyYAML does, `init` writes nothing else."""

from __future__ import annotations

import random
from typing import Any

import pytest
import yaml
from team_console.store.settings.parsing import quick_nodes
from team_console.store.settings.settings_file import new_text
from team_console.store.settings.team_config import Agent

_SEED = 20261122
_USUAL = """\
# Settings of this team
team: bench   # a word about it
lead: ceo
version: 1.0
description: 'Runs the tests: daily, at 10:30'
archive_dir: "{project-root}/archive"

agents:
  - name: ceo
    role: master
    deliver: [sh, -c, "cat > /dev/null"]
  - name: qa-runner
    may_message: []
    plan_mode_required: true
  - dev
retention:
  delete_archived_after_days: 90
  read_after_days:
humans:
  ana:
    keys:
    - ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEZ5 ana@example.org
"""
_PIECES = (
    *("team", "a b", ":", ": ", " #", "# c", "\n", "\n  ", "\n- ", "\n  - ", "- ", "-", "[", "]", ", ", ",", "'", '"'),
    *("{", "}", "&a", "*a", "!t", "|", ">", "~", "null", "yes", "10:30", "http://x", "<<", "?", "%", "@", "...", "---"),
    *("\t", "\r\n", "ä", "\\n", "''", "\n\n", "    ", "key: ", "name: x", "agents:", "=", "a: b: c", "x:y", "\n---\n"),
)


def _shape(node: Any) -> Any:
    line = node.start_mark.line
    if node.id == "mapping":
        return line, [(_shape(key), _shape(value)) for key, value in node.value]
    if node.id == "sequence":
        return line, "list", [_shape(item) for item in node.value]
    return line, node.value, bool(node.style)


def _by_yaml(text: str) -> Any:
    return yaml.compose(text, yaml.CSafeLoader)


@pytest.mark.parametrize(
    "text",
    [
        _USUAL,
        new_text(team="T 1", lead="ceo", agents=[Agent("ceo", role="master"), Agent("b.c", deliver=("sh", "x y"))]),
        "team: a\n",
        "a:\n- b: 1\n  c:\n  - d\n  - e: f\ng:\n",
    ],
)
def test_usual_settings_are_read_without_pyyaml_and_as_pyyaml_reads_them(text: str) -> None:
    node = quick_nodes(text)
    assert node is not None
    assert _shape(node) == _shape(_by_yaml(text))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# nothing\n",
        "- a\n",
        "a: b\n  c: d\n",
        "a:\n    b: 1\n  c: 2\n",
        "a: [b, c\n",
        "a: |\n  text\n",
        "a: &x b\n",
        "<<: {}\n",
        "a: 'it''s'\n",
        "a: b\n---\nc: d\n",
        "a: \N{EURO SIGN}\n",
        "a:\tb\n",
        "a: b\r\n",
        "<<<<<<< HEAD\na: b\n",
        "a: {b: c}\n",
        "a: b\nc\n",
        "'a': b\n",
        "a:\n" + "".join("  " * depth + "b:\n" for depth in range(1, 40)),
    ],
)
def test_what_is_not_plain_is_left_to_pyyaml(text: str) -> None:
    assert quick_nodes(text) is None


def test_whatever_is_taken_is_read_as_pyyaml_reads_it() -> None:
    drawn = random.Random(_SEED)
    lines = _USUAL.splitlines(keepends=True)
    taken = 0
    for _ in range(4_000):
        some = drawn.sample(lines, drawn.randint(1, 8)) if drawn.random() < 0.5 else list(lines)
        text = "".join(some)
        for _ in range(drawn.randint(0, 3)):
            place = drawn.randint(0, len(text))
            text = text[:place] + drawn.choice(_PIECES) + text[place + drawn.choice((0, 0, 1, 4)) :]
        node = quick_nodes(text)
        if node is None:
            continue
        taken += 1
        try:
            expected = _shape(_by_yaml(text))
        except yaml.YAMLError as error:
            raise AssertionError(f"seed {_SEED}: {text!r} was taken: {error}") from None
        assert _shape(node) == expected, f"seed {_SEED}: {text!r}"
    assert taken > 300
