"""Queue files to read, made from a number: good ones, mutated ones, and ones from a grammar of nasty YAML."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from random import Random

ENTRY = """\
- message_id: MSG-20260224-{number:08d}
  type: plan_approval_request
  from: task-manager
  to: {to}
  priority: high
  created: '2026-02-24T10:30:15.123Z'
  status: pending
  payload:
    request_id: plan_approval-1771929015123@task-manager@sprint-42
    summary: Refactor the report generator
    content: {content}
"""
_CORPUS: dict[str, list[str]] = json.loads(Path(__file__).with_name("corpus.json").read_text(encoding="utf-8"))
CONTENTS, FRAGMENTS = _CORPUS["contents"], _CORPUS["fragments"]
"""Values of an entry's content; what is put anywhere into a file that was good."""
HEADS, LISTS, TAILS = _CORPUS["heads"], _CORPUS["lists"], _CORPUS["tails"]
"""What stands before the list of a queue, the key that begins it, and what stands behind it."""
_UNITS, _PLACES = _CORPUS["units"], _CORPUS["places"]
"""Known trouble, which is repeated; where it is put, at the `@`."""


def good(random: Random) -> str:
    """A queue that is valid YAML, in one of many spellings."""
    indent = " " * random.choice((0, 0, 0, 2, 4))
    entries = (
        ENTRY.format(number=number, to=random.choice(("ceo", "[a, b]", "no")), content=random.choice(CONTENTS))
        for number in range(random.choice((0, 1, 2, 3, 5)))
    )
    body = textwrap.indent("".join(entries), indent)
    text = random.choice(HEADS) + random.choice(LISTS) + body + random.choice(TAILS)
    return text.replace("\n", "\r\n") if random.random() < 0.05 else text


def changed(random: Random) -> tuple[bytes, bytes]:
    """A good queue of some length, and what it is once one of its entries was mutated, taken out or put in."""
    indent = " " * random.choice((0, 0, 2))
    entries = [ENTRY.format(number=number, to="ceo", content=random.choice(CONTENTS)) for number in range(9)]
    entries = [textwrap.indent(entry, indent) for entry in entries]
    head, tail, place = random.choice(HEADS) + random.choice(LISTS), random.choice(TAILS), random.randrange(9)
    one = mutate(random, entries[place])
    after = [*entries[:place], *random.choice(([one], [one, one], [])), *entries[place + 1 :]]
    before, now = (head + "".join(some) + tail for some in (entries, after))
    return before.encode(), now.encode()


def mutate(random: Random, text: str) -> str:
    """`text` with a few things inserted, deleted, doubled, moved or indented otherwise."""
    for _ in range(random.choice((1, 1, 1, 2, 2, 3, 5))):
        text = random.choices(_CHANGES, weights=(45, 20, 15, 10, 10))[0](random, text)
    return text


def mutated_bytes(random: Random) -> bytes:
    """A good file with single bytes changed, which need not be UTF-8 any more."""
    data = bytearray(good(random).encode())
    for _ in range(random.choice((1, 1, 2, 4, 16))):
        place = random.randrange(len(data) + 1)
        kind = random.random()
        byte = random.randrange(256) if random.random() < 0.1 else random.randrange(9, 127)
        if kind < 0.4:
            data[place:place] = bytes([byte])
        elif kind < 0.7:
            del data[place : place + random.choice((1, 1, 2, 40))]
        else:
            data[place : place + 1] = bytes([byte])
    return bytes(data[: random.randrange(len(data) + 1)] if random.random() < 0.1 else data)


def nasty(random: Random, largest: int) -> bytes:
    """A file from a grammar of known trouble, repeated up to `largest` bytes."""
    times = random.choices((1, 10, 70, 1000, 5000, 30_000, 200_000), weights=(4, 4, 4, 4, 4, 3, 1))[0]
    unit = random.choice(_UNITS)
    bomb = unit * min(times, largest // len(unit))
    place = random.choice(_PLACES)
    return place.replace("@", bomb).encode("utf-8", "surrogatepass")


def make(number: int, seed: int, largest: int) -> bytes:
    """Input `number` of the sequence `seed`, at most about `largest` bytes; the same numbers give the same bytes."""
    random = Random(f"{seed}:{number}")
    kind = random.random()
    if kind < 0.32:
        return mutated_bytes(random)
    if kind < 0.9:
        return mutate(random, good(random)).encode()
    return nasty(random, largest) if kind < 0.99 else random.randbytes(random.randrange(2000))


def _splice(random: Random, text: str, *, more: Sequence[str] = (), less: Sequence[int] = ()) -> str:
    """Put one of these texts anywhere, in place of so many characters."""
    place = random.randrange(len(text) + 1)
    put = random.choice(more) if more else ""
    return text[:place] + put + text[place + (random.choice(less) if less else 0) :]


def _move_line(random: Random, text: str) -> str:
    lines = text.split("\n")
    place = random.randrange(len(lines))
    line = lines[place] if random.random() < 0.5 else lines.pop(place)
    lines.insert(random.randrange(len(lines) + 1), line)
    return "\n".join(lines)


def _indent_line(random: Random, text: str) -> str:
    lines = text.split("\n")
    place, width = random.randrange(len(lines)), random.choice((-2, -1, 1, 2, 4))
    lines[place] = " " * width + lines[place] if width > 0 else lines[place][-width:]
    return "\n".join(lines)


_CHANGES: tuple[Callable[[Random, str], str], ...] = (
    partial(_splice, more=FRAGMENTS),
    partial(_splice, less=(1, 1, 2, 3, 10)),
    partial(_splice, more=FRAGMENTS, less=(1, 1, 2, 3)),
    _move_line,
    _indent_line,
)
