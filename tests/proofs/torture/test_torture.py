"""Under kills, stops, failing writes and programs that do not lock, every promise holds; and the judge can see."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.equipment.command_line import CommandLine
from tests.proofs.torture.audit import Receipts, Verdict
from tests.proofs.torture.run import Torture
from tests.proofs.torture.stores import STORES, NotHereError, read_files

pytestmark = pytest.mark.slow

_SECONDS = (6.0, 20.0, 60.0)
"""On a machine that has little time for it, too little may happen in the first; each counts in full. The long run is
`python -m tests.proofs torture --count 1800`."""


@pytest.mark.parametrize("store", STORES)
def test_nothing_is_lost_doubled_or_left_behind(store: str) -> None:
    assert any(_enough_happened(store, seconds) for seconds in _SECONDS)


def _enough_happened(store: str, seconds: float) -> bool:
    torture = Torture(store, seed=11)
    try:
        torture.run(seconds, patience=60)
    except NotHereError as error:
        pytest.skip(str(error))
    assert not torture.verdict.failures, f"{torture}\n" + "\n".join(torture.verdict.failures[:20])
    return torture.has_met_all()


def test_the_judge_sees_what_is_lost_doubled_or_left_behind(team: CommandLine, tmp_path: Path) -> None:
    team.ok("--as ceo send --to file-manager --summary 'Five words are in here' --content Hello")
    (mine,) = team.ok("--json receive --agent file-manager").json["messages"]
    notes = (f"got file-manager {mine['message_id']}", "sent nowhere", "answered plan-1", "asked plan-1")
    receipts = tmp_path / "receipts"
    receipts.mkdir()
    for name, lines in (("one", notes), ("two", notes[:1] + notes[2:3])):
        (receipts / name).write_text("".join(f"{line}\n" for line in lines))
    archive = team.folder / "archive" / "file-manager-archive.yaml"
    archive.write_text(archive.read_text() + archive.read_text().partition("\n")[2])
    (team.folder / "message-queue.yaml.tmp.1").touch()
    ours = f"('file-manager', '{mine['message_id']}')"
    assert set(Verdict(read_files(str(team.folder)), Receipts(receipts)).failures) >= {
        "lost: nowhere",
        f"delivered 2 times: {ours}",
        f"in the archive of file-manager 2 times: {mine['message_id']}",
        "answered 2 times: plan-1",
        "answer lost: plan-1",
        "question lost: plan-1",
        "litter: message-queue.yaml.tmp.1",
    }
