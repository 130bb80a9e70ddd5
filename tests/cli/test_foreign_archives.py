"""Archives that other programs write: in whatever form, each record is read by itself and none is ever moved away."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.equipment.command_line import CommandLine
from tests.proofs.archive import MOST, measure, write_archive

pytestmark = pytest.mark.slow

ARCHIVE = "archive/dev-archive.yaml"
BAD = "urgent: call the bank"
Form = Callable[[Sequence[dict[str, Any]]], str]


def _record(number: int, summary: str = "") -> dict[str, Any]:
    payload = {"summary": summary or f"entry {number}", "content": "c"}
    known = {"message_id": f"o{number}", "type": "message", "from": "boss", "to": "dev", "status": "read"}
    return {**known, "priority": "low", "created": f"2026-11-01T00:00:{number:02}Z", "payload": payload}


def _block(records: Sequence[dict[str, Any]], **how: Any) -> str:
    return str(yaml.safe_dump(list(records), sort_keys=False, **how)).replace(f"'{BAD}'", BAD)


def _json(record: dict[str, Any]) -> str:
    return json.dumps(record).replace(f'"{BAD}"', BAD)


FORMS: dict[str, Form] = {
    "a list under messages": lambda records: "messages:\n" + _block(records),
    "records alone": _block,
    "an indented list": lambda records: "messages:\n  " + _block(records).replace("\n", "\n  ").rstrip(" "),
    "two lists": lambda records: f"messages:\n{_block(records[:5])}archived_messages:\n{_block(records[5:])}",
    "one document each": lambda records: (
        "---\n" + "---\n".join(_block([item])[2:].replace("\n  ", "\n") for item in records)
    ),
    "JSON, one a line": lambda records: "".join(f"{_json(item)}\n" for item in records),
    "JSON, a list under a key": lambda records: (
        '{"messages": [\n' + ",\n".join(map(_json, records)) + '\n], "count": 12}'
    ),
}


@pytest.fixture
def here(tmp_path: Path) -> CommandLine:
    (tmp_path / "messenger-config.yaml").write_text("agents: [boss, dev]\n")
    (tmp_path / "message-queue.yaml").write_text("messages: []\n")
    (tmp_path / "archive").mkdir()
    return CommandLine(tmp_path)


def _send_and_receive(here: CommandLine) -> None:
    here.ok("send", "--as", "boss", "--to", "dev", "--summary", "one two three four five", "--content", "c")
    here.ok("receive", "--agent", "dev")


def _shown(here: CommandLine) -> tuple[list[str], list[str]]:
    """Summaries in the history, and the places of what cannot be read."""
    lines = [line.partition('"')[2].rstrip('"') for line in here.ok("history", "--agent", "dev").out.splitlines()]
    found = here("check", "--json").json["findings"]
    return lines, [item["place"] for item in found if item["code"] == "DAMAGED_ARCHIVE"]


def _bytes(folder: Path) -> bytes:
    return b"\0".join(path.read_bytes() for path in sorted((folder / "archive").iterdir()))


@pytest.mark.parametrize(("ours", "bad"), [(0, 7), (1, 7), (1, 0)])
@pytest.mark.parametrize("name", FORMS)
def test_good_records_of_a_file_with_a_bad_one_are_shown_before_and_after_every_write(
    here: CommandLine, name: str, ours: int, bad: int
) -> None:
    """Also when they stand behind one of our own."""
    records = [_record(number, BAD if number == bad else "") for number in range(1, 13)]
    text = FORMS[name](records)
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
