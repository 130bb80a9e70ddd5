"""Archives that other programs write: in whatever form, each record is read by itself and none is ever moved away."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.equipment.cases import cases
from tests.equipment.command_line import CommandLine
from tests.proofs.archive import MOST, measure, write_archive

pytestmark = pytest.mark.slow

ARCHIVE = "archive/dev-archive.yaml"
BAD = "urgent: call the bank"
FORMS = {path.stem: path.read_text(encoding="utf-8") for path in sorted(Path(__file__).with_name("archives").iterdir())}
"""Twelve records as other programs write them, of which the seventh cannot be read."""


@pytest.fixture
def here(tmp_path: Path) -> CommandLine:
    (tmp_path / "messenger-config.yaml").write_text("agents: [boss, dev]\n")
    (tmp_path / "message-queue.yaml").write_text("messages: []\n")
    (tmp_path / "archive").mkdir()
    return CommandLine(tmp_path)


def _send_and_receive(here: CommandLine) -> None:
    here.ok("send --as boss --to dev --summary 'one two three four five' --content c")
    here.ok("receive --agent dev")


def _shown(here: CommandLine) -> tuple[list[str], list[str]]:
    """Summaries in the history, and the places of what cannot be read."""
    lines = [line.partition('"')[2].rstrip('"') for line in here.ok("history --agent dev").out.splitlines()]
    found = here("check --json").json["findings"]
    return lines, [item["place"] for item in found if item["code"] == "DAMAGED_ARCHIVE"]


def _bytes(folder: Path) -> bytes:
    return b"\0".join(path.read_bytes() for path in sorted((folder / "archive").iterdir()))


@cases
@pytest.mark.parametrize("name", FORMS)
def test_good_records_of_a_file_with_a_bad_one_are_shown_before_and_after_every_write(
    here: CommandLine, name: str, ours: int, bad: int
) -> None:
    """Also when they stand behind one of our own."""
    text = FORMS[name] if bad else FORMS[name].replace(BAD, '"entry 7"')
    path = here.folder / ARCHIVE
    for _ in range(ours):
        _send_and_receive(here)
    with path.open("a") as file:
        file.write(text.rstrip() if ours and not bad else text)
    good = [f"entry {number}" for number in range(1, 13) if number != bad]
    whole = path.read_text()
    line = whole.partition(BAD)[0].count("\n") + 1
    for count in range(ours, ours + 2):
        lines, places = _shown(here)
        assert [item for item in lines if item.startswith("entry")] == good
        assert len(lines) == len(good) + count
        assert len(places) == bool(bad)
        for part, _, number in (place.rpartition(":") for place in places):
            assert part.startswith("dev-archive")
            assert abs(int(number) - line) <= 5
        assert whole.encode() in _bytes(here.folder)
        _send_and_receive(here)


@pytest.mark.parametrize("form", ["js-yaml", "documents", "JSON, indented"])
def test_a_long_archive_is_taken_over_in_little_memory_and_listed_whole(tmp_path: Path, form: str) -> None:
    count = write_archive(tmp_path, form, 20)
    assert measure(tmp_path, "receive", "--agent", "dev")[1] <= MOST
    lines, held = measure(tmp_path, "history", "--agent", "dev")
    assert (lines > count, held <= MOST) == (True, True)
