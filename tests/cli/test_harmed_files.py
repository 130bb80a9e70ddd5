"""Whatever happened to a file beside the queue: each verb works, or gives one error that names it and the next step."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from team_console.console.cli.main import run

from tests.samples import rotated
from tests.trust.damage import FILES, HARMS, healthy_team

pytestmark = pytest.mark.slow

BESIDE = {**{name: path for name, path in FILES.items() if name != "queue"}, "lock": "message-queue.yaml.lock"}
CHOSEN = ("emptied", "zeros", "few bits flipped", "gone", "a folder instead", "a pipe instead", "a loop of links")
VERBS = (
    ("status",),
    ("check",),
    ("history",),
    ("requests",),
    ("roster",),
    ("inbox", "ceo"),
    ("failures",),
    ("send", "--to", "file-manager", "--summary", "Look at the export once", "--content", "Now."),
    ("receive", "--agent", "ceo"),
    ("deliver",),
    ("clear", "--older-than-days", "0"),
    ("check", "--heal"),
)
STATUSES = {0, 1, 4}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A healthy team to make copies of."""
    return healthy_team(tmp_path_factory.mktemp("model") / "team")


@pytest.mark.parametrize(("harm", "file"), rotated(CHOSEN, tuple(BESIDE)))
def test_each_verb_works_or_names_the_file_and_the_next_step(
    model: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], file: str, harm: str
) -> None:
    for number, words in enumerate(VERBS):
        folder = Path(shutil.copytree(model, tmp_path / str(number)))
        HARMS[harm](folder / BESIDE[file])
        status = run(["-t", str(folder), "--json", *words])
        out = capfd.readouterr().out
        assert status in STATUSES, (words, out)
        answer = json.loads(out)
        if "error" in answer:
            assert Path(BESIDE[file]).name in answer["message"], (words, answer)
            assert answer["hint"], (words, answer)
            assert answer["error"] in ("STORE_UNREADABLE", "STORE_FAILED"), (words, answer)


@pytest.mark.parametrize("file", ["archive", "audit"])
@pytest.mark.parametrize("harm", ["gone", "emptied", "zeros", "moved away"])
def test_history_that_was_lost_is_warned_of_and_is_an_error_of_check(
    model: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], file: str, harm: str
) -> None:
    folder = Path(shutil.copytree(model, tmp_path / "team"))
    HARMS[harm](folder / BESIDE[file])
    assert run(["-t", str(folder), "history", "--agent", "file-manager"]) == 0
    assert Path(BESIDE[file]).name in capfd.readouterr().err
    run(["-t", str(folder), "--json", "check"])
    findings = json.loads(capfd.readouterr().out)["findings"]
    told = [finding for finding in findings if Path(BESIDE[file]).name in finding["place"]]
    assert told
    assert all(message["hint"] for message in told)
    assert len({(finding["code"], finding["place"], finding["message"]) for finding in findings}) == len(findings)
