"""A program that writes in place and is cut off: its half entry is healed from the ledger, wherever it was cut."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from team_console.store.model.message import Message

from tests.equipment.yaml_folder import QUEUE, make_message, open_yaml, put

pytestmark = pytest.mark.slow

LONG = (
    "A first line\nand one that is long enough that a writer of YAML folds it somewhere before it comes to its end ü\n"
)
STYLES: dict[str, Callable[[bytes], str]] = {
    "ours": lambda data: data.decode(),
    "dumped": lambda data: yaml.safe_dump(yaml.safe_load(data), sort_keys=False),
    "dumped in flow": lambda data: yaml.safe_dump(yaml.safe_load(data), default_flow_style=None),
    "dumped with letters": lambda data: yaml.safe_dump(yaml.safe_load(data), allow_unicode=True, width=40),
}
STEP = 13
"""Bytes between two cuts; prime, so that all parts of a line are met."""


def _team(root: Path) -> list[Message]:
    root.mkdir(exist_ok=True)
    second = make_message(2, payload={"summary": 'Two: with "quotes", and more', "content": LONG, "tries": 12})
    put(open_yaml(root), make_message(1), second, make_message(3))
    return list(open_yaml(root).snapshot().messages)


@pytest.mark.parametrize("style", STYLES)
def test_wherever_a_writer_in_place_is_cut_off_everything_is_there_again_and_nothing_damaged(
    tmp_path: Path, style: str
) -> None:
    _team(tmp_path / "team")
    before = {message.message_id: message.record for message in open_yaml(tmp_path / "team").snapshot().messages}
    written = STYLES[style]((tmp_path / "team" / QUEUE).read_bytes()).encode()
    for length in range(len(b"messages:\n"), len(written), STEP):
        root = tmp_path / f"cut at {length}"
        shutil.copytree(tmp_path / "team", root, copy_function=shutil.copy2)
        (root / QUEUE).write_bytes(written[:length])
        put(open_yaml(root), make_message(4))
        seen = open_yaml(root).snapshot()
        after = {message.message_id: message.record for message in seen.messages}
        assert {name: after[name] for name in before} == before, written[:length]
        assert not [problem for problem in seen.problems if problem.code == "DAMAGED_ENTRY"], written[:length]
        shutil.rmtree(root)
