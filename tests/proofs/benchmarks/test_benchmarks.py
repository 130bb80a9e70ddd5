"""The benchmark itself works: its data is what the store writes, its figures are what was measured."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from team_console.store.backends.open import open_team
from team_console.store.backends.yaml.entry import emit, parse_entry

from tests.proofs.benchmarks.bulk import exponent
from tests.proofs.benchmarks.contestant import KINDS, Contestant, Kind
from tests.proofs.benchmarks.data import letter, letters, write_team
from tests.proofs.benchmarks.peers import ROOT, Peers
from tests.proofs.benchmarks.samples import Samples, take_turns
from tests.proofs.benchmarks.soak import Sample, table
from tests.proofs.benchmarks.table import Table, number, ratio, spread
from tests.proofs.benchmarks.targets import REFERENCE, Targets, bare_python
from tests.proofs.benchmarks.terminal import Terminal

pytestmark = pytest.mark.slow

HERE = [kind for kind in KINDS if not kind.package]
MAILDIR = next(kind for kind in KINDS if kind.module == "maildir")
NOBODY = Peers(python=None, clawteam=None, neomutt=None)


def test_a_letter_is_spelled_exactly_as_the_store_writes_it() -> None:
    for toast in letters(300):
        entry = toast.yaml().encode()
        message = parse_entry(entry)
        assert message.record == toast.record()
        assert emit(message) == entry


def test_a_letter_has_the_size_of_a_real_message_and_an_id_of_its_own() -> None:
    some = list(letters(500))
    assert 380 < sum(len(toast.yaml()) for toast in some) / len(some) < 480
    assert len({toast.message_id for toast in some}) == len(some)


def test_a_written_team_opens_with_its_queue_and_its_archives(tmp_path: Path) -> None:
    write_team(tmp_path, letters(30, first=50), archived=50)
    team = open_team(str(tmp_path))
    assert [message.message_id for message in team.snapshot().messages] == [
        letter(number).message_id for number in range(50, 80)
    ]
    assert team.snapshot().problems == ()
    assert {message.status for message in team.history(limit=100).messages} == {"read"}
    assert len(team.history(limit=100).messages) == 50


@pytest.mark.parametrize("kind", HERE, ids=lambda kind: kind.module)
def test_every_contestant_sees_every_message_after_each_order(kind: Kind, tmp_path: Path) -> None:
    with Contestant(kind, Path(sys.executable), tmp_path) as contestant:
        contestant.order("fill", count=20)
        for op in ("send", "reload", "cold", "reload"):
            assert contestant.order(op) > 0


def test_a_contestant_that_loses_a_message_is_found_out(tmp_path: Path) -> None:
    with Contestant(MAILDIR, Path(sys.executable), tmp_path) as contestant:
        contestant.order("fill", count=5)
        next((tmp_path / "Maildir/cur").iterdir()).unlink()
        with pytest.raises(RuntimeError, match="saw 4 messages instead of 5"):
            contestant.order("cold")


def test_a_peer_that_is_not_installed_has_no_interpreter() -> None:
    assert [kind.module for kind in KINDS if kind.python(NOBODY) is None] == ["litequeue", "persistqueue"]


def test_contestants_take_turns_and_one_over_its_budget_sits_out() -> None:
    calls: list[str] = []

    def slow() -> float:
        calls.append("slow")
        return 1.0

    def quick() -> float:
        calls.append("quick")
        return 2.0

    found = take_turns({"slow": slow, "quick": quick}, rounds=3, budget=60.0)
    assert calls == ["slow", "quick"] * 4
    assert found["slow"].values == (1.0, 1.0, 1.0)
    calls.clear()
    assert take_turns({"slow": slow}, rounds=3, budget=-1.0)["slow"].values == (1.0,)
    assert calls == ["slow"]


def test_a_table_shows_median_spread_and_ratio() -> None:
    some = Samples(tuple(float(value) for value in range(1, 12)))
    result = Table("Times", ("store", "ms", "ratio"))
    result.add("ours", spread(some), ratio(some.median, some.median))
    result.add("other", number(1234.5), ratio(12.0, some.median))
    assert result.text().splitlines()[4:6] == [
        "| ours  | 6.0 (2.0-10.0) |  1.0x |",
        "| other |          1,234 |  2.0x |",
    ]


def test_growth_is_told_as_a_power_of_the_size() -> None:
    assert exponent((100, 10_000), (2.0, 200.0)) == "1.0"
    assert exponent((100, 1_000), (1.0, 100.0)) == "2.0"
    assert exponent((100, 1_000), (0.0, 100.0)) == "-"


def test_a_limit_of_time_is_that_of_the_machine_and_any_other_is_not() -> None:
    targets = Targets("Limits", bare=1.5 * REFERENCE)
    targets.add("quick here", 140.0, 100.0, "ms")
    targets.add("slow everywhere", 2.0, 1.0, "s")
    targets.add("too large", 140.0, 100.0, "MB")
    targets.add("too often", 1.4, 1.0, "x")
    assert [(row[3], row[4]) for row in targets.table.rows] == [
        *(("150 ms", "yes"), ("1.5 s", "NO"), ("100 MB", "NO"), ("1.0 x", "NO"))
    ]
    assert "1.5 times" in targets.table.notes[0]
    assert bare_python() > 0


def test_the_long_run_tells_growth_by_the_hour() -> None:
    busy = [Sample(60.0 * minute, 50.0 + minute, 12, 0.1 * minute, 0, 600 * minute) for minute in range(61)]
    idle = [Sample(0.0, 110.0, 12, 6.0, 900, 0), Sample(60.0, 110.0, 12, 6.3, 900, 0)]
    rows = {row[0]: row[1] for row in table(busy, idle).rows}
    assert rows["memory growth, MB per hour"] == "60.0"
    assert rows["processor while idle, % of a core"] == "0.50"


def test_the_terminal_tells_when_a_text_was_first_seen_and_what_a_key_cost() -> None:
    program = "import sys; print('ready', flush=True)\nfor line in sys.stdin: print('got ' + line.strip(), flush=True)"
    with Terminal((sys.executable, "-c", program), {"TERM": "xterm", "PATH": "/usr/bin:/bin"}) as terminal:
        assert terminal.wait_for("ready") > 0
        assert terminal.first_seen(lambda text: "ready" in text) is not None
        assert terminal.first_seen(lambda text: "never" in text) is None
        terminal.settle(quiet=0.2, first=0.2)
        terminal.press(b"key\r")
        assert terminal.settle(quiet=0.2, first=5.0).size == len("key\r\ngot key\r\n")
        assert "got key" in terminal.text()


def test_the_command_measures_and_says_what_was_left_out(tmp_path: Path) -> None:
    command = (sys.executable, "-m", "tests.proofs.benchmarks", "--quick", "--only", "stores", "--dir", str(tmp_path))
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "| team-console" in done.stdout
    assert "| mailbox.Maildir" in done.stdout
    assert "litequeue" in done.stdout
    assert list(tmp_path.iterdir()) == []
