"""Whatever comes to harm, no verb says that there is nothing when that is not known (decision D16)."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from team_console.console.cli.main import run

from tests.equipment.damage import FILES, HARMS, NOTE, PLAN, flipped, healthy_team
from tests.equipment.samples import sampled

pytestmark = pytest.mark.slow

QUIET_WORDS = (
    "no message",
    "no pending",
    "0 messages",
    "none;",
    "nothing needs",
    "is empty",
    '"count": 0',
    '"needs_you": 0',
)
"""How verbs say that there is nothing."""
UNREADABLE = 4
DAMAGE = "of the queue cannot be read"
"""How every face says that entries are damaged."""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A healthy team to make copies of."""
    return healthy_team(tmp_path_factory.mktemp("model") / "team")


@pytest.fixture
def folder(model: Path, tmp_path: Path) -> Path:
    """A copy of it to be harmed."""
    return Path(shutil.copytree(model, tmp_path / "team"))


Says = Callable[..., tuple[int, str]]


@pytest.fixture
def says(folder: Path, capfd: pytest.CaptureFixture[str]) -> Says:
    """Runs a verb on the team: status and everything it printed."""

    def say(*words: str) -> tuple[int, str]:
        status = run(["-t", str(folder), *words])
        printed = capfd.readouterr()
        return status, printed.out + printed.err

    return say


def is_honest(status: int, text: str) -> bool:
    """Whether it shows what is there, or says that it does not know."""
    assert "unexpected" not in text, text
    assert "Traceback" not in text, text
    if status == UNREADABLE:
        return not any(word in text for word in QUIET_WORDS)
    shown = PLAN[:5] in text or NOTE in text or "another program" in text
    return status == 0 and (shown or (DAMAGE in text and "nothing needs ceo\n" not in text))


LOOKS = (("status",), ("inbox", "ceo"), ("receive", "--agent", "ceo", "--peek"), ("status", "--json"))


@pytest.mark.parametrize("harm", sampled(HARMS, 6))
def test_a_harmed_queue_is_never_shown_as_empty(folder: Path, says: Says, harm: str) -> None:
    HARMS[harm](folder / FILES["queue"])
    for words in LOOKS:
        status, text = says(*words)
        if words == ("status", "--json"):
            seen = json.loads(text)
            assert seen["needs_you"] or (seen["needs_you"] is None) == (status == UNREADABLE), text
            assert seen["needs_you"] != 0 or seen["doubt"], text
        else:
            assert is_honest(status, text), (words, status, text)
    status, text = says("receive", "--agent", "ceo")
    assert is_honest(status, text), (status, text)


@pytest.mark.parametrize("first", range(0, 191, 96))
def test_damaged_entries_are_told_by_every_face_wherever_the_damage_is(folder: Path, says: Says, first: int) -> None:
    queue = folder / FILES["queue"]
    queue.write_bytes(flipped(queue.read_bytes(), every=191, first=first))
    status = json.loads(says("status", "--json")[1])
    checked = json.loads(says("check", "--json")[1])
    assert checked["condition"] == status["condition"]
    assert status["damaged"] == sum(item["code"] == "DAMAGED_ENTRY" for item in checked["findings"])
    assert ("in doubt" in says("status")[1]) == (status["condition"] == "doubt")
    for words in (*LOOKS[:3], ("receive", "--agent", "ceo")):
        code, text = says(*words)
        assert code == (UNREADABLE if status["condition"] == "unreadable" else 0), text
        # A write puts back what is on record, and says so.
        assert (DAMAGE in text or "put back whole" in text) == bool(status["damaged"]), (words, text)
