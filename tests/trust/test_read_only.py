"""A read-only console and its verbs leave no trace: no byte, no time, no file, no lock (issue of trust, D7)."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pytest

from tests.equipment.cases import constant
from tests.equipment.command_line import COMMAND, CommandLine
from tests.equipment.pressed_keys import ESCAPE, leave, reach
from tests.equipment.terminal import Terminal
from tests.equipment.yaml_folder import everything_in
from tests.showcase import build

pytestmark = pytest.mark.slow

SHOWN = constant(__file__, "SHOWN", dict[str, str])


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The showcase."""
    place: Path = tmp_path_factory.mktemp("model") / "team"
    build(place)
    return place


@pytest.fixture
def folder(model: Path) -> Iterator[Path]:
    """A copy where every user may read and only the owner may write."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        place = Path(shutil.copytree(model, Path(name) / "team"))
        for path in (place, *place.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        yield place


def session(
    folder: Path, *before: str, options: Sequence[str] = ("--read-only",), modes: Iterable[str] = SHOWN
) -> Terminal:
    """A whole session: every mode, every writing key, forms refused; it is over when this returns."""
    command = [*before, *COMMAND, "-t", ".", *options]
    with Terminal(command, cwd=folder, env={"XDG_STATE_HOME": str(folder / "state"), "HOME": str(folder)}) as terminal:
        terminal.wait_for("READ-ONLY  ●", "Escalation")
        for mode in modes:
            reach(terminal, mode, SHOWN[mode])
            for key in (*"jardmbsStxeu\r", ESCAPE, ESCAPE, *"/e\r", ESCAPE):
                terminal.send(key)
                terminal.settle(0.02)
            terminal.send(ESCAPE)
            terminal.settle(0.1)
        terminal.wait_for("READ-ONLY")
        leave(terminal)
        return terminal


def test_a_whole_session_changes_no_byte_no_time_and_no_listing(folder: Path) -> None:
    before = everything_in(folder)
    session(folder)
    assert everything_in(folder) == before


WRITES = """
send --to architect --summary s --content x
broadcast --summary s --content x --yes
receive --agent ceo
ack MSG-1
--as task-manager plan --content x
approve plan_approval-1
reject plan_approval-1 --reason x
shutdown architect
deliver
retry MSG-1
redirect MSG-1 --to ceo
discard MSG-1 --reason x
recall MSG-1
clear --older-than-days 1
--as ceo sendmessage
"""
DOCUMENT = {"type": "message", "recipient": "architect", "content": "x", "summary": "a b c d e"}
"""What `sendmessage` reads, and the others do not."""


def test_every_writing_verb_is_refused_with_5_and_leaves_no_trace(folder: Path) -> None:
    before = everything_in(folder)
    for line in WRITES.strip().splitlines():
        done = CommandLine(folder)("--read-only", *line.split(), stdin=json.dumps(DOCUMENT))
        assert done.status == 5, done
        assert "READ_ONLY" in done.err + done.out
    assert everything_in(folder) == before
