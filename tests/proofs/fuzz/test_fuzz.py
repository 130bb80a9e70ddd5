"""A short fuzz run with every change; the long one is `python -m tests.proofs.fuzz`."""

from __future__ import annotations

import os
import resource
import subprocess
import sys

import pytest
from team_console.store.backends.yaml.queue import QueueText

from tests.equipment.command_line import ROOT
from tests.equipment.counting import calls_of
from tests.proofs.fuzz.runner import run
from tests.proofs.fuzz.texts import EACH

pytestmark = pytest.mark.slow


def test_no_file_kills_hangs_or_confuses_the_reader() -> None:
    report = run(inputs=1200, seed=20260224, largest=150_000, batch=600, workers=2)
    assert report.failures == []
    assert report.outcomes.total() == 1200
    assert min(report.outcomes[name] for name in ("fine", "damaged", "unreadable")) > 100


@pytest.mark.parametrize("unit", [b"- {a: \n", b"- [\n", b'- [a, "\n'])
def test_a_damaged_entry_is_not_searched_for_an_end_behind_the_place_where_it_is_broken(unit: bytes) -> None:
    data = b"messages:\n- message_id: A\n  type: t\n  from: a\n  to: b\n" + unit * 4000
    assert calls_of(lambda: QueueText.parse(data)) < 1_000_000, "each open entry looks at up to 64 KB behind it"


def test_no_text_of_an_agent_holds_its_readers_up() -> None:
    """A reader whose time grows by the square takes hours for such a text, and the system ends it."""
    some = len(EACH) if os.environ.get("EXHAUSTIVE") else 300
    words = [sys.executable, "-m", "tests.proofs.fuzz.texts", "--seed", "20260224", "--some", str(some)]
    limit = 60 + some // 4
    child = subprocess.run(
        [*words, "--length", "400000"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5)),
    )
    assert child.returncode == 0, f"seed 20260224: {child.stdout.splitlines()[-1:]} {child.stderr[-500:]}"
