"""Opens the demo: a team in a temporary folder, its agents as processes, the console on it; and closes it again."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

from msgspec import Struct
from team_console.console.demo import words
from team_console.console.demo.given_past import GivenPast, make_team, write
from team_console.console.demo.member_out_of_reach import ABSENT, command, seed_tries
from team_console.console.demo.supervisor import environment, team_folder
from team_console.store.model.clock import utc_now
from team_console.store.settings.team_config import CONFIG_NAME, Agent

AGENTS = (
    Agent(words.LEAD, role="master"),
    Agent("task-manager", plan_mode_required=True),
    Agent("schedule-manager"),
    Agent("file-manager"),
    Agent("knowledge-manager"),
    Agent(ABSENT),
    Agent("scrum-master", role="resident"),
    Agent("debugger", role="resident"),
    Agent("slave-batch-1", role="slave"),
    Agent("inspector-1", role="temp"),
    Agent("slave-batch-2", role="slave"),
)
_PATIENCE = 8.0
_ENDINGS = (signal.SIGTERM, signal.SIGHUP)


class Simulation(Struct, frozen=True):
    """How the demo is to run: same seed, same words; `speed` 2 is twice as fast."""

    seed: int
    speed: float
    keep: bool


@contextmanager
def simulation(how: Simulation) -> Iterator[Path]:
    """A running team; yields its folder. However the block is left, the agents end and the folder goes."""
    with _orderly_end():
        folder = Path(tempfile.mkdtemp(prefix="team-console-demo-"))
        supervisor: subprocess.Popen[bytes] | None = None
        try:
            build(folder)
            supervisor = _start(folder, how)
            yield team_folder(folder)
        finally:
            _close(folder, supervisor, how)


def build(folder: Path) -> None:
    """The team as the demo opens: its members, two days of archived talk, one delivery that failed."""
    root = team_folder(folder)
    make_team(root, name=words.TEAM, lead=words.LEAD, agents=AGENTS)
    _give_command(root, command(folder))
    past = GivenPast(utc_now())
    archived_talk(past, days=2)
    failed = past.say(
        *(12, "scrum-master", ABSENT, "review"),
        payload={
            "artifact_path": "specs/SPEC-030-reminders.md",
            "review_type": "specification",
            "summary": "SPEC-030 is ready for review",
        },
        priority="high",
        status="failed",
        attempts=4,
        retry_count=3,
        error_message="exit status 75: architect is in a meeting until the hour",
    )
    _first_decision(past)
    write(root, past)
    seed_tries(folder, [failed.message_id], 4)


def archived_talk(past: GivenPast, *, days: int) -> None:
    """Earlier talk, only in the archives."""
    for day in range(days, 0, -1):
        for number, (sender, to, summary, content) in enumerate(words.CHATTER):
            minutes = day * 1440 - number * 47
            past.note(minutes, sender, to, summary, content, read=minutes - 2, live=False)
            reply = words.REPLIES[to][day % len(words.REPLIES[to])]
            past.note(minutes - 4, to, sender, f"Re: {summary}"[:80], reply, read=minutes - 5, live=False)
        plan = words.PLANS[-day % len(words.PLANS)]
        asked = day * 1440 - 300
        request_id = past.request_id("plan_approval", asked, "task-manager", words.TEAM)
        question = {"request_id": request_id, "summary": plan.summary, "content": plan.content}
        past.say(
            asked, "task-manager", words.LEAD, "plan_approval_request", payload=question, read=asked - 5, live=False
        )
        answer = {"request_id": request_id, "approve": True}
        past.say(
            asked - 6, words.LEAD, "task-manager", "plan_approval_response", payload=answer, read=asked - 7, live=False
        )


def _first_decision(past: GivenPast) -> None:
    """A plan that was refused for a reason, and waits revised: what the human sees first is something to decide."""
    plan = words.PLANS[0]
    first = past.request_id("plan_approval", 6, "task-manager", words.TEAM)
    past.say(
        *(6, "task-manager", words.LEAD, "plan_approval_request"),
        payload={"request_id": first, "content": plan.content, "summary": plan.summary},
        priority="high",
        read=4,
    )
    past.say(
        *(4, words.LEAD, "task-manager", "plan_approval_response"),
        payload={"request_id": first, "approve": False, "content": words.FIRST_REASON, "summary": plan.summary},
        priority="high",
        read=3.9,
    )
    again = words.revised(plan, words.FIRST_REASON, 2)
    second = past.request_id("plan_approval", 1, "task-manager", words.TEAM)
    past.say(
        *(1, "task-manager", words.LEAD, "plan_approval_request"),
        payload={"request_id": second, "content": again.content, "summary": again.summary},
        priority="high",
    )


def _give_command(root: Path, arguments: list[str]) -> None:
    """Settings written by `init` name no commands; a JSON list is YAML as well."""
    path = root / CONFIG_NAME
    text = path.read_text(encoding="utf-8")
    entry = f"- name: {ABSENT}\n  role: member\n"
    path.write_text(text.replace(entry, f"{entry}  deliver: {json.dumps(arguments)}\n"), encoding="utf-8")


def wait(seconds: float) -> None:
    """Let the team play without a console."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        time.sleep(min(left, 1.0))


def _start(folder: Path, how: Simulation) -> subprocess.Popen[bytes]:
    arguments = [str(folder), str(how.seed), str(how.speed), "keep" if how.keep else "remove"]
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "team_console.console.demo.supervisor", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment(),
        start_new_session=True,
    )


def _close(folder: Path, supervisor: subprocess.Popen[bytes] | None, how: Simulation) -> None:
    """A second signal must not leave the agents or the folder behind, so nothing interrupts this."""
    for number in (*_ENDINGS, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    if supervisor is not None:
        if supervisor.stdin is not None:
            with suppress(OSError):
                supervisor.stdin.close()
        try:
            supervisor.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            supervisor.kill()
            supervisor.wait()
    if not how.keep:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _orderly_end() -> Iterator[None]:
    """SIGTERM and SIGHUP leave through the `finally` blocks, like Ctrl-C does."""
    before: dict[signal.Signals, Any] = {ending: signal.getsignal(ending) for ending in (*_ENDINGS, signal.SIGINT)}
    for number in _ENDINGS:
        signal.signal(number, _leave)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)


def _leave(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
