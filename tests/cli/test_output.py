"""What reaches the terminal: never a control byte from a message, colours only where wanted, clean endings."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
from pathlib import Path

import pytest
from team_console.console.cli.streams import to_json

from tests.equipment.command_line import COMMAND, CommandLine, clean_environment, next_line

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    "text", ["plain", "日本語 é", "\x85\x9b", "\u202e\u2066\u200f", "\ud800", "\U000e0041", "\u2028"]
)
def test_json_reads_back_as_the_same_value(text: str) -> None:
    written = to_json({"text": text})
    assert json.loads(written) == {"text": text}
    assert written.isprintable()


def test_a_reader_that_leaves_early_is_no_error(team: CommandLine) -> None:
    entry = "- {{message_id: m{}, type: message, from: ceo, to: task-manager, payload: {{content: {}}}}}\n"
    records = (entry.format(number, "x" * 200) for number in range(3000))
    (team.folder / "message-queue.yaml").write_text(f"messages:\n{''.join(records)}")
    with team.running("receive --agent task-manager --peek") as printing:
        assert printing.stdout is not None
        assert printing.stderr is not None
        printing.stdout.read(10)
        printing.stdout.close()
        assert printing.stderr.read() == b""
        assert printing.wait(20) == 141


def test_a_full_disk_behind_the_output_is_said(team: CommandLine) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("no /dev/full here")
    with full.open("wb") as stdout:
        done = subprocess.run(
            [*COMMAND, "roster"], cwd=team.folder, env=clean_environment(), stdout=stdout, stderr=subprocess.PIPE
        )
    assert done.returncode == 1
    assert b"No space left" in done.stderr
    assert b"Traceback" not in done.stderr


def test_nothing_is_taken_that_could_not_be_printed(team: CommandLine) -> None:
    team.ok("send --to task-manager --summary s --content c")
    before = (team.folder / "message-queue.yaml").read_bytes()
    line = " ".join(f"'{word}'" for word in (*COMMAND, "receive", "--agent", "task-manager"))
    done = subprocess.run(["sh", "-c", f"{line} >&-"], cwd=team.folder, env=clean_environment(), capture_output=True)
    assert done.returncode == 2
    assert b"standard output is closed" in done.stderr
    assert (team.folder / "message-queue.yaml").read_bytes() == before


def test_ctrl_c_leaves_with_130_and_no_traceback(team: CommandLine) -> None:
    with team.running("watch") as watching:
        assert next_line(watching.stderr).startswith("watching ")
        watching.send_signal(signal.SIGINT)
        _, err = watching.communicate(timeout=60)
    assert watching.returncode == 130
    assert b"Traceback" not in err


def test_a_defect_is_one_line_and_a_traceback_only_on_request(team: CommandLine, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "sitecustomize.py").write_text(
        "import team_console.store.backends.open\n"
        "def fail(*names, **options):\n"
        "    token = 'hunter2'\n"
        "    return {}[token]\n"
        "team_console.store.backends.open.open_team = fail\n"
    )
    path = os.pathsep.join([str(broken), os.environ.get("PYTHONPATH", ""), str(Path(__file__).resolve().parents[2])])
    result = team("roster", env={"PYTHONPATH": path, "XDG_STATE_HOME": str(tmp_path / "state")})
    assert result.status == 1
    log = tmp_path / "state" / "team-console" / "log" / "defects.log"
    assert result.err.startswith("team-console: unexpected KeyError at ")
    assert str(log) in result.err
    assert "report" in result.err
    assert "Traceback" not in result.err
    assert "sitecustomize.py" in log.read_text()
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert "hunter2" not in result.out + result.err + log.read_text()
    shown = team("roster --json", env={"PYTHONPATH": path, "TEAM_CONSOLE_DEBUG": "1"})
    assert shown.json["error"] == "INTERNAL_ERROR"
    assert "Traceback" in shown.err


def test_output_in_another_encoding_does_not_fail(team: CommandLine) -> None:
    team.ok("send --to task-manager --summary '创建新任务：财务报表生成' --content 'é'")
    latin = {"PYTHONUTF8": "0", "PYTHONIOENCODING": "latin-1", "LC_ALL": "C"}
    shown = team("receive --agent task-manager --peek --json", env=latin)
    assert json.loads(shown.out)["messages"][0]["payload"]["summary"] == "创建新任务：财务报表生成"
    assert team("inbox task-manager", env=latin).status == 0


def test_the_watch_notices_what_others_write(team: CommandLine) -> None:
    with team.running("watch --json") as watching:
        next_line(watching.stderr)
        words = ("--summary", "State of the export job please", "--content", "x", "--id", "m1")
        team.ok("send --to task-manager", *words)
        new = json.loads(next_line(watching.stdout))
        assert (new["change"], new["message_id"], new["status"]) == ("new", "m1", "pending")
        team.ok("receive --agent task-manager")
        read = json.loads(next_line(watching.stdout))
        assert (read["change"], read["was"], read["status"]) == ("status", "pending", "read")
        (team.folder / "message-queue.yaml").write_text("messages: []\n")
        lines = (json.loads(next_line(watching.stdout)) for _ in range(10))
        gone = next(line for line in lines if line["change"] == "gone")
        assert (gone["message_id"], gone["to"]) == ("m1", ["task-manager"])
        (team.folder / "message-queue.yaml").write_text("broken: [")
        lines = (json.loads(next_line(watching.stdout)) for _ in range(10))
        condition = next(line for line in lines if line["change"] == "condition")
    assert condition["condition"] == "unreadable"
