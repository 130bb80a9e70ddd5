"""What can be told apart is read, and a text stays a text: queues, archives, dropped files and inboxes of strangers."""

from __future__ import annotations

import json

import pytest
from team_console.store.backends.yaml.queue import QueueText

from tests.equipment.strangers import Cell, as_json, entry, sample
from tests.equipment.teams import make_message


def read(cell: Cell) -> QueueText:
    text = QueueText.parse(cell.text.encode())
    assert text.data() == cell.text.encode(), cell.name
    return text


def test_entries_are_told_apart_in_any_frame_beside_any_damage_and_any_text() -> None:
    wrong = []
    for cell in sample():
        text = read(cell)
        ids = [message.message_id for message in text.messages()]
        lines = cell.text.splitlines()
        begins = [lines[line - 1] for line, _ in text.damaged()]
        if (ids, text.damaged_count) != (cell.ids, cell.damaged) or any("N" in line for line in begins):
            wrong.append((cell.name, ids, cell.ids, text.damaged_count, cell.damaged, begins))
    assert wrong == []


@pytest.mark.parametrize("key", ["note", '"note"', "'note'"])
def test_what_a_text_under_any_key_of_the_file_holds_is_no_message(key: str) -> None:
    text = f"{key}: |\n{entry('N', indent=2)}"
    for whole in (f"{text}messages:\n{entry('A')}", f"messages:\n{entry('A')}{text}"):
        assert [message.message_id for message in QueueText.parse(whole.encode()).messages()] == ["A"], whole


BAD = '{"message_id": "B", "type": "message", "from": "sm", "to": "dev", "x": "see notes\\official.md"}'
CUT = '{"message_id": "B", "type": "message", "from": "sm", "to": "dev", "x": "see no'
ARRAYS = {
    "lines": "{}\n{}\n{}\n",
    "array": "[{}, {}, {}]\n",
    "array of lines": "[\n  {},\n  {},\n  {}\n]\n",
    "list under a key": '{{"version": 1, "messages": [{},\n{},\n{}]}}\n',
}


@pytest.mark.parametrize("form", ARRAYS)
@pytest.mark.parametrize("bad", [BAD, "7", '"B"', CUT])
def test_objects_of_json_are_told_apart(form: str, bad: str) -> None:
    if bad == CUT and form == "array":
        pytest.skip("a text without an end goes on to the end of its line")
    data = ARRAYS[form].format(as_json("A"), bad, as_json("C")).encode()
    text = QueueText.parse(data)
    assert [message.message_id for message in text.messages()] == ["A", "C"]
    assert text.damaged_count == 1
    after = QueueText.parse(text.edit(append=[make_message(1)]).data())
    assert [message.message_id for message in after.messages()] == ["A", "C", make_message(1).message_id]
    assert after.damaged_count == 1
    assert bad.encode() in after.data()
    if form == "lines":  # it stays what it was
        assert [
            json.loads(line)["message_id"]
            for line in after.data().splitlines()
            if line.startswith(b'{"mes') and b"B" not in line
        ]


def test_an_entry_below_the_keys_begins_where_the_one_before_ends() -> None:
    for indent in (2, 4, 6):
        text = QueueText.parse(f"messages:\n{entry('A')}{entry('N', indent=indent)}".encode())
        assert [message.message_id for message in text.messages()] == ["A", "N"]
        assert text.damaged() == []


@pytest.mark.parametrize("line", ["status: pending\n", "  x: 1\n", "}  x: 1\n", "nonsense\n  x-other: 1\n"])
def test_a_line_that_slipped_to_the_left_is_not_left_out_of_its_message(line: str) -> None:
    slipped = entry("B", indent=2).replace("    status: pending\n", line)
    text = QueueText.parse(f"messages:\n{entry('A', indent=2)}{slipped}{entry('C', indent=2)}".encode())
    assert [message.message_id for message in text.messages()] == ["A", "C"]
    assert text.damaged_count == 1


def test_new_entries_stand_in_the_column_of_the_last() -> None:
    for indent in (0, 2, 4):
        text = QueueText.parse(f"messages:\n{entry('A')}{entry('N', indent=indent)}".encode())
        assert b"\n" + b" " * indent + b"- message_id: MSG-" in text.edit(append=[make_message(1)]).data()
