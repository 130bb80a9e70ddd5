"""Two readers, one meaning: the quick one and the patient one, the first reading and the later ones."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from team_console.store.backends.yaml.codec import CodecError, QueueText
from team_console.store.backends.yaml.codec.cutting.unusual import read_unusual
from team_console.store.backends.yaml.codec.parsing.quick_parser import read_fast
from team_console.store.backends.yaml.codec.parsing.scalars import same
from team_console.store.backends.yaml.codec.parsing.values import read_item
from team_console.store.model.message import Message

from tests.proofs.fuzz.inputs import ENTRY, good, mutate

pytestmark = pytest.mark.slow

seeds = st.integers(0, 2**32)
PLAIN = (
    ENTRY.format(number=1, to="ceo", content='|\n      one\n\n        two # "3"\n      four: five'),
    ENTRY.format(number=2, to="[a, b]", content="['x y', \"z\", 1, -2.5, no]")
    + "    names:\n    - a\n    - -b\n"
    + "    list:\n      - k: v\n        l:\n        - 1\n        - m: |-\n            text\n"
    + "    'on': \"q\\u00e9\\t\"\n    e:\n    z: -1.5\n    f: [a, no]\n    g: {}\n# end MSG 1\n",
)


@settings(max_examples=3000, deadline=None, suppress_health_check=list(HealthCheck))
@given(seeds)
def test_what_the_quick_reader_accepts_the_patient_reader_reads_the_same(seed: int) -> None:
    random = Random(seed)
    raw = mutate(random, random.choice(PLAIN)).encode()
    quick = read_fast(raw)
    if quick is not None:
        patient = read_item(raw)
        assert same(quick, patient)
        assert list(quick) == list(patient)


def test_the_quick_reader_takes_the_form_we_write() -> None:
    assert all(read_fast(text.encode()) is not None for text in PLAIN)


def outcomes(text: QueueText) -> list[object]:
    return [dict(message.record) if isinstance(message := entry.outcome, Message) else None for entry in text.entries]


@settings(max_examples=1500, deadline=None, suppress_health_check=list(HealthCheck))
@given(seeds, st.booleans())
def test_cutting_by_columns_finds_what_a_whole_file_parse_finds(seed: int, broken: bool) -> None:
    random = Random(seed)
    text = mutate(random, good(random)) if broken else good(random)
    data = text.encode()
    try:
        parts = read_unusual(data)
    except CodecError:
        assert broken
        return
    expected = [
        dict(message.record) if isinstance(message := entry.outcome, Message) else None for entry in parts.entries
    ]
    found = QueueText.parse(data)
    assert same(outcomes(found), expected)
    assert found.data() == data


@settings(max_examples=600, deadline=None, suppress_health_check=list(HealthCheck))
@given(seeds)
def test_a_reload_finds_what_a_first_reading_finds(seed: int) -> None:
    random = Random(seed)
    text = good(random)
    previous: QueueText | None = None
    for _ in range(6):
        data = text.encode()
        try:
            cold = QueueText.parse(data)
        except CodecError:
            text = mutate(random, text)
            continue
        warm = QueueText.parse(data, previous)
        assert [entry.raw for entry in warm.entries] == [entry.raw for entry in cold.entries]
        assert (warm.head, warm.tail, warm.style) == (cold.head, cold.tail, cold.style)
        assert same(outcomes(warm), outcomes(cold))
        assert [(line, str(error)) for line, error in warm.damaged()] == [
            (line, str(error)) for line, error in cold.damaged()
        ]
        assert warm.starts() == cold.starts()
        previous, text = warm, mutate(random, text)


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(seeds)
def test_a_reload_reuses_every_entry_whose_surroundings_did_not_change(seed: int) -> None:
    random = Random(seed)
    count = random.randrange(3, 12)
    raws = [ENTRY.format(number=number, to="ceo", content="x").encode() for number in range(count)]
    before = QueueText.parse(b"messages:\n" + b"".join(raws))
    kept = before.entries
    changed = random.randrange(count)
    raws[changed] = raws[changed].replace(b"status: pending", b"status: read")
    after = QueueText.parse(b"messages:\n" + b"".join(raws), before).entries
    assert [old is new for old, new in zip(kept, after, strict=True)] == [number != changed for number in range(count)]
