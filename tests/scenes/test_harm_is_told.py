"""What is lost beside the queue, or stands in its place, is told, and neither hangs nor hides anything (D16)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from team_console.store.backends.open import open_team
from team_console.store.contract.snapshot import ARCHIVE_LOST, AUDIT_LOST, Condition
from team_console.store.contract.team import Team
from team_console.store.model.errors import Code, TeamError
from team_console.store.service.caller import Caller
from team_console.store.service.inbox import receive
from team_console.store.service.sending import send
from team_console.store.settings.team_config import QUEUE_NAME

from tests.equipment.command_line import CommandLine
from tests.equipment.damage import FILES, HARMS, healthy_team
from tests.equipment.yaml_folder import make_message, open_yaml, put, write_into

LARGE = "It goes on and on. " * 10_000
TELLS = {
    "archive": {"DAMAGED_ARCHIVE", ARCHIVE_LOST},
    "audit": {AUDIT_LOST, "UNUSABLE_FILE", "AUDIT_BROKEN"},
    "attachment": {"ATTACHMENT_LOST"},
}
"""File -> codes of findings, one of which tells that something of it is lost."""
INSTEAD = ("a folder instead", "a pipe instead", "a dangling link", "a loop of links")
LOCK = f"{QUEUE_NAME}.lock"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A team with several messages in an archive, and one whose content is an attachment."""
    folder = healthy_team(tmp_path_factory.mktemp("model") / "team")
    team = open_team(str(folder))
    for number in range(5):
        send(Caller(team, "ceo"), to="file-manager", summary="one two three four five", content=f"Number {number}")
        receive(Caller(team, "file-manager"), agent="file-manager")
    send(Caller(team, "ceo"), to="task-manager", summary="All of the report is here", content=LARGE)
    team.close()
    return folder


@pytest.fixture
def folder(model: Path, tmp_path: Path) -> Path:
    """A copy of it to be harmed."""
    return Path(shutil.copytree(model, tmp_path / "team"))


def _file(folder: Path, name: str) -> Path:
    return next((folder / "attachments").iterdir()) if name == "attachment" else folder / FILES[name]


def _held(team: Team, name: str) -> object:
    """What the team still knows of what the file held."""
    if name == "archive":
        return {message.message_id for message in team.history().messages}
    return [(line.actor, line.action, line.intact) for line in team.audit()] if name == "audit" else None


@pytest.mark.slow
@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize("name", TELLS)
def test_what_is_lost_of_a_file_is_among_the_findings(folder: Path, name: str, harm: str) -> None:
    if name == "archive" and harm in ("conflict markers", "two documents"):
        pytest.skip("it still holds every message")
    before = _held(open_team(str(folder)), name)
    HARMS[harm](_file(folder, name))
    found = CommandLine(folder)("check", "--json").json["findings"]
    told = {item["code"] for item in found if item["severity"] in ("error", "warning")}
    assert told & TELLS[name] or (name != "attachment" and _held(open_team(str(folder)), name) == before), found


@pytest.mark.slow
@pytest.mark.parametrize("harm", HARMS)
def test_a_write_goes_over_no_queue_that_cannot_be_read_and_loses_nothing_of_one_that_can(
    folder: Path, harm: str
) -> None:
    queue, team = folder / QUEUE_NAME, open_team(str(folder))
    before = {message.message_id for message in team.snapshot().messages}
    HARMS[harm](queue)
    harmed = queue.read_bytes() if queue.is_file() else None
    condition, error = team.snapshot().condition, None
    try:
        send(Caller(team, "ceo"), to="task-manager", summary="one two three four five", content="c")
    except TeamError as refused:
        error = refused
    if error is not None:
        assert (error.exit_code, condition in (Condition.UNREADABLE, Condition.VANISHED)) == (4, True)
        assert (queue.read_bytes() if queue.is_file() else None) == harmed
    else:
        after = open_team(str(folder))
        assert before <= {item.message_id for item in (*after.snapshot().messages, *after.history().messages)}


def test_archives_that_another_program_wrote_without_a_trail_are_no_loss(folder: Path) -> None:
    for name in ("audit.jsonl", LOCK, f"{QUEUE_NAME}.prev"):
        (folder / name).unlink(missing_ok=True)
    assert AUDIT_LOST in {problem.code for problem in open_team(str(folder)).snapshot().problems}
    archive = folder / FILES["archive"]
    lines = archive.read_text().splitlines(keepends=True)
    archive.write_text("".join(line for line in lines if not line.startswith("# end")))
    page = open_team(str(folder)).history()
    assert (len(page.messages), page.problems) == (6, ())
    assert AUDIT_LOST not in {problem.code for problem in open_team(str(folder)).snapshot().problems}


@pytest.mark.parametrize("harm", INSTEAD)
def test_a_lock_that_is_no_plain_file_is_told_to_readers_and_refused_by_name_to_writers(
    folder: Path, harm: str
) -> None:
    HARMS[harm](folder / LOCK)
    seen = open_yaml(folder).snapshot()
    (told,) = [problem for problem in seen.problems if problem.code == "UNUSABLE_FILE"]
    assert (seen.condition, told.severity, told.place) == (Condition.OK, "error", str(folder / LOCK))
    with pytest.raises(TeamError) as caught:
        put(open_yaml(folder), make_message(4))
    assert (caught.value.code, "plain file" in caught.value.hint) == (Code.STORE_FAILED, True)
    assert open_yaml(folder).snapshot().messages == seen.messages


@pytest.mark.parametrize("harm", INSTEAD[1:])
@pytest.mark.parametrize("name", ["archive", "inbox", "attachments"])
def test_what_is_no_folder_is_moved_aside_when_the_folder_is_needed(folder: Path, name: str, harm: str) -> None:
    if (folder / name).is_dir():
        (folder / name).rename(folder / "elsewhere")
    (folder / name).touch()
    HARMS[harm](folder / name)
    with open_yaml(folder).transaction(actor="ceo", action="try", wait=1) as tx:
        write_into(tx, name)
    assert len(list((folder / name).iterdir())) == 1
    assert len(list(folder.glob(f"{name}.aside-*"))) == 1
