"""Queues as strangers write them: a grid of frames, indentations, damages, neighbours and hostile texts."""

from __future__ import annotations

import itertools
import json
import textwrap
from collections.abc import Iterator
from random import Random

from msgspec import Struct

from tests.equipment.cases import constant
from tests.equipment.samples import EXHAUSTIVE

SEED = 20261127
SAMPLE = 400
"""Cells of the grid in a run that is not EXHAUSTIVE."""


class Cell(Struct, frozen=True):
    """One text of the grid, with what has to be read of it and how much of it is named as damaged."""

    name: str
    text: str
    ids: list[str]
    damaged: int


def entry(message_id: str, *, indent: int = 0, more: str = "") -> str:
    """One entry of a list, with further lines of keys at column 2."""
    lines = f"- message_id: {message_id}\n  type: message\n  from: sm\n  to: dev\n  status: pending\n{more}"
    return textwrap.indent(lines + "  payload: {summary: s, content: c}\n", " " * indent)


def as_json(message_id: str) -> str:
    """The same as an object on one line."""
    record = {"message_id": message_id, "type": "message", "from": "sm", "to": "dev", "status": "pending"}
    return json.dumps({**record, "payload": {"summary": "s", "content": "c"}})


FRAMES = constant(__file__, "FRAMES", dict[str, str])
DAMAGES = constant(__file__, "DAMAGES", dict[str, str])
HOSTILE = constant(__file__, "HOSTILE", dict[str, str])
NEIGHBOURS: dict[str, tuple[str, list[str], int]] = {
    "same": (entry("N"), ["N"], 0),
    "at 2": (entry("N", indent=2), ["N"], 0),
    "at 4": (entry("N", indent=4), ["N"], 0),
    "prose": ("I added the entry below.\n" + entry("N"), ["N"], 1),
    "mark": ("---\n" + entry("N"), ["N"], 0),
    "JSON": (as_json("N") + "\n", ["N"], 0),
    "marked": ("\ufeff" + entry("N"), ["N"], 0),
    "half": ("- message_id: HALF\n  ty\n", [], 1),
}


def cells() -> Iterator[Cell]:
    """Every cell: a good entry, one with a text and a damage, a neighbour, and a last good one."""
    for frame, indent, damage, hostile, neighbour, first in itertools.product(
        FRAMES, (0, 2, 4), DAMAGES, HOSTILE, NEIGHBOURS, (True, False)
    ):
        harm, text = DAMAGES[damage], HOSTILE[hostile]
        more = harm + text if first else text + harm
        shown, ids, damaged = NEIGHBOURS[neighbour]
        is_deeper = neighbour in ("at 2", "at 4") and int(neighbour[-1]) > indent
        if damage != "none" and is_deeper:
            continue  # a dash within an entry that does not parse begins none
        column = 0 if "column 0" in hostile or damage == "tab" else indent
        if column != indent:
            continue  # the list has to stand where the text does
        body = (
            entry("A", indent=indent)
            + entry("B", indent=indent, more=more)
            + shown
            + ("" if damaged and not ids else entry("Z"))
        )
        names = ["A", *(["B"] if damage == "none" else []), *ids, *([] if damaged and not ids else ["Z"])]
        lost = damaged + (damage != "none") + 2 * (frame == "fence")
        name = f"{frame}, at {indent}, {damage}, {hostile}, {neighbour}, {'damage first' if first else 'text first'}"
        framed = FRAMES[frame].format(body=body)
        yield Cell(name, framed.replace("\n", "\r\n") if frame == "CRLF" else framed, names, lost)


def sample() -> list[Cell]:
    """A fixed sample of the grid; all of it with EXHAUSTIVE=1."""
    every = list(cells())
    return every if EXHAUSTIVE else Random(SEED).sample(every, SAMPLE)
