"""Queues as other programs write them: empty in their words, under the lock of the source, with files in `drop/`."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml

from tests.equipment.command_line import CommandLine

pytestmark = pytest.mark.slow

QUEUE = "message-queue.yaml"
SEND = ("send", "--as", "ceo", "--to", "dev", "--summary", "one two three four five", "--content", "c")
ENTRY = "- {message_id: theirs, type: message, from: ceo, to: dev, status: pending, payload: {content: c}}"


@pytest.fixture
def here(tmp_path: Path) -> CommandLine:
    (tmp_path / "messenger-config.yaml").write_text("lead: ceo\nagents: [dev, sm, boss]\n")
    return CommandLine(tmp_path)


def test_a_program_that_writes_as_the_source_says_is_not_told_off(here: CommandLine) -> None:
    here.ok(*SEND)
    for number in range(2):
        script = f"cp {QUEUE} {QUEUE}.tmp && echo '{ENTRY.replace('theirs', f'theirs-{number}')}' >> {QUEUE}.tmp"
        command = f"{script} && mv {QUEUE}.tmp {QUEUE}"
        subprocess.run(["flock", f"{QUEUE}.lock", "sh", "-c", command], cwd=here.folder, check=True)
        found = here("check")
        assert "does not lock" not in found.out
        assert "nothing is missing" in found.out
        assert here.ok(*SEND).err == ""
    assert here.ok("receive", "dev", "--json").json["count"] == 5


def test_a_file_in_drop_that_is_no_message_is_named_by_readers(here: CommandLine) -> None:
    here.ok(*SEND)
    (here.folder / "drop").mkdir()
    (here.folder / "drop" / "bad.yaml").write_text("# by hand\nmessage_id: x\ntype: message: 1\n")
    (here.folder / "drop" / "none.json").write_text("{}")
    before = (here.folder / QUEUE).read_bytes()
    for words in (("status",), ("inbox", "dev"), ("receive", "dev", "--peek"), ("requests",), ("check",)):
        shown = here(*words)
        lines = [line for line in (shown.out + shown.err).splitlines() if "is no message" in line]
        assert len([line for line in lines if "drop/bad.yaml" in line and "line 3" in line]) == 1, shown
        assert len([line for line in lines if "drop/none.json" in line]) == 1, shown
    assert (here.folder / QUEUE).read_bytes() == before


def _entry(number: int, **keys: object) -> dict[str, object]:
    known = {"message_id": f"o{number}", "type": "message", "from": "boss", "to": "dev", "status": "pending"}
    record = {**known, "priority": "low", "created": f"2026-11-24T10:00:{number:02}Z", **keys}
    return {**record, "payload": {"summary": "one two three four five", "content": "c"}}


def _received(here: CommandLine, records: list[dict[str, object]], agent: str = "dev") -> tuple[list[str], list[str]]:
    """Ids as they are handed out, and codes of the findings before that; the queue is not written by reading."""
    path = here.folder / QUEUE
    path.write_text(yaml.safe_dump({"messages": records}, sort_keys=False))
    text = path.read_text()
    codes = [item["code"] for item in here("check", "--json").json["findings"]]
    assert path.read_text() == text
    return [item["message_id"] for item in here.ok("receive", agent, "--json").json["messages"]], codes


def test_priorities_and_states_of_others_count_as_meant_and_are_told_once_for_each_word(here: CommandLine) -> None:
    words = ["medium", " low ", "Critical", "HIGH", 1, "2", 3, 4, "whenever", "Critical"]
    records = [_entry(number, priority=word) for number, word in enumerate(words)]
    states = ["Pending", "unread", "pending ", "READ", "Read", "waiting"]
    records += [_entry(20 + number, status=word) for number, word in enumerate(states)]
    ids, codes = _received(here, records)
    assert ids == ["o2", "o4", "o9", "o3", "o5", "o0", "o6", "o1", "o7", "o20", "o21", "o22", "o8"]
    assert sorted(set(codes)) == ["OTHER_WORD", "UNKNOWN_PRIORITY", "UNKNOWN_STATUS"]
    assert codes.count("OTHER_WORD") == len({str(word) for word in (*words[1:8], *states[:5])})


def test_times_of_yaml_and_numbers_are_understood(here: CommandLine) -> None:
    times = [
        *("2026-11-20 9:05:00", "2026-11-20 09:43:10.10 -5", 1795533905, 1795533906500, "2026-11-20T09:00:00+02:00"),
        *("2026-11-20", "some day"),
    ]
    ids, codes = _received(here, [_entry(number, created=time) for number, time in enumerate(times)])
    assert ids == ["o6", "o5", "o4", "o0", "o1", "o2", "o3"]
    assert codes == ["UNREADABLE_DATE"]


@pytest.mark.parametrize("key", ["to", "to_agents"])
def test_names_with_commas_between_them_are_several(here: CommandLine, key: str) -> None:
    record = _entry(1)
    del record["to"]
    ids, codes = _received(here, [{**record, key: "dev, sm"}])
    assert (ids, codes) == (["o1"], ["OTHER_WORD"])
    assert here.ok("receive", "sm", "--json").json["count"] == 1
    assert "dev, sm" not in here.ok("roster").out
