"""Proof that an archive of strangers, as long as they get, is taken over in little memory, whatever form it has.

An archive is written in each form, and the command line runs on it, each verb in a process of its own.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import yaml

from tests.equipment.command_line import COMMAND, clean_environment

MOST = 100
"""Megabytes that a verb may hold."""
VERBS = (("receive", "--agent", "dev"), ("history", "--agent", "dev"), ("check",), ("receive", "--agent", "dev"))
_MEASURE = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, check=True)
print(len(done.stdout.splitlines()), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def _block(record: Mapping[str, object]) -> str:
    return yaml.dump([record], sort_keys=False)


def _one_line(record: Mapping[str, object]) -> str:
    return json.dumps(record) + "\n"


FORMS: Mapping[str, tuple[str, Callable[[Mapping[str, object]], str]]] = {
    "PyYAML": ("messages:\n", _block),
    "js-yaml": ("messages:\n", lambda record: textwrap.indent(_block(record), "  ")),
    "documents": ("", lambda record: f"---\n{yaml.dump(record)}"),
    "JSON lines": ("", _one_line),
    "JSON, indented": (
        '{\n  "version": 1,\n  "messages": [\n',
        lambda record: textwrap.indent(json.dumps(record, indent=2), "    ") + ",\n",
    ),
    "brackets, never closed": ('{"messages": [\n', lambda record: _one_line(record).replace("\n", ",\n")),
    "a quote, never closed": ('- content: "never closed\n', _block),
}
"""How the archive was written -> its first line, and a record in it."""


def write_archive(folder: Path, form: str, megabytes: int) -> int:
    """Write a team with one message for `dev`, whose archive is that long; returns how many records are in it."""
    begin, write = FORMS[form]
    record: dict[str, object] = {"message_id": "o0", "from": "sm", "to": "dev", "type": "message", "status": "read"}
    record |= {"created": "2026-01-01T00:00:00Z", "payload": {"summary": "old", "content": "words of it\n" * 60}}
    pattern = write(record)
    count = megabytes * 1_000_000 // len(pattern)
    (folder / "archive").mkdir()
    with (folder / "archive" / "dev-archive.yaml").open("w") as file:
        file.write(begin)
        for number in range(count):
            file.write(pattern.replace("o0", f"o{number}", 1))
    # Its id occurs in that of each record, so that looking for it reads all of them.
    queue = f"messages:\n{_block({**record, 'message_id': 'o', 'status': 'pending'})}"
    (folder / "message-queue.yaml").write_text(queue)
    return count


def measure(folder: Path, *verb: str) -> tuple[int, int]:
    """Return how many lines a verb printed, and the megabytes that it held at most."""
    words = (sys.executable, "-c", _MEASURE, *COMMAND, "-t", str(folder), *verb)
    done = subprocess.run(words, env=clean_environment(), capture_output=True, text=True, check=True)
    lines, held = done.stdout.split()
    return int(lines), int(held) >> 10


def prove(count: int, seed: int, folder: Path, only: str) -> Iterator[str]:
    """Yield each verb that held more than it may, or left out a record, on an archive of `count` megabytes."""
    for number, form in enumerate(form for form in FORMS if only in form):
        place = folder / str(number)
        place.mkdir()
        records = write_archive(place, form, count)
        for verb in VERBS:
            lines, held = measure(place, *verb)
            told = f"{form}: {' '.join(verb)}: {lines} lines about {records} records, {held} MB"
            print(told, flush=True)
            if held > MOST or (verb[0] == "history" and lines <= records):
                yield told
        shutil.rmtree(place)
