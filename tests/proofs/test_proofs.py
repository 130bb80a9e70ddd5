"""A short form of each proof by chance runs with every test; `python -m tests.proofs NAME` is the long one."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest
from team_console.store.backends.yaml.queue import QueueText

from tests.equipment.command_line import ROOT
from tests.equipment.counting import calls_of
from tests.equipment.samples import EXHAUSTIVE
from tests.proofs import matrix
from tests.proofs.__main__ import PROOFS
from tests.proofs.fuzz.texts import EACH

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("name", "count", "seed", "only"),
    [
        ("drive", 4, 4, ""),
        ("fuzz", 1_200, 20260224, ""),
        ("grants", 3_000, 37, ""),
        ("hooks", 24, 13, ""),
        *(("matrix", 4, 1, store) for store in matrix.STORES),
        ("keys", 200, 7, ""),
        ("shell", 60, 37, ""),
        *(("races", 20, 1, store) for store in ("yaml", "sqlite", "postgresql")),
    ],
)
def test_the_short_form_of_a_proof_finds_nothing_wrong(
    name: str, count: int, seed: int, only: str, tmp_path: Path
) -> None:
    assert [*PROOFS[name].find(count, seed, tmp_path, only)] == []


@pytest.mark.parametrize("unit", [b"- {a: \n", b"- [\n", b'- [a, "\n'])
def test_a_damaged_entry_is_not_searched_for_an_end_behind_the_place_where_it_is_broken(unit: bytes) -> None:
    data = b"messages:\n- message_id: A\n  type: t\n  from: a\n  to: b\n" + unit * 4000
    assert calls_of(lambda: QueueText.parse(data)) < 1_000_000, "each open entry looks at up to 64 KB behind it"


def test_no_text_of_an_agent_holds_its_readers_up() -> None:
    """A reader whose time grows by the square takes hours for such a text, and the system ends it."""
    some = len(EACH) if EXHAUSTIVE else 300
    limit = 60 + some // 4
    child = subprocess.run(
        [sys.executable, "-m", "tests.proofs", "readers", "--seed", "20260224", "--count", str(some)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5)),
    )
    assert child.returncode == 0, f"seed 20260224: {child.stdout.splitlines()[-1:]} {child.stderr[-500:]}"
