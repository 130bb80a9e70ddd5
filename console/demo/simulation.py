"""Opens the demo: a team in a temporary folder, its agents in one child process; and closes it again.

Run as a program it is that child (`play`), or the command that a member's messages are delivered by (`turn_away`).
"""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from types import FrameType
from typing import Any

from msgspec import convert
from team_console.console.demo.player import STORY, Actor, facts_of, first_message, perform
from team_console.store.api import AgentClient
from team_console.store.backends.open import open_team
from team_console.store.contract.snapshot import Snapshot
from team_console.store.model.clock import utc_now
from team_console.store.model.errors import TeamError
from team_console.store.protocol.parsing import parse_message
from team_console.store.service.caller import Caller
from team_console.store.service.maintenance import clear
from team_console.store.service.router import deliver
from team_console.store.settings.editing import change_member, write_new_settings
from team_console.store.settings.team_config import CONFIG_NAME, QUEUE_NAME, Agent

ABSENT = "architect"
"""The member without a life of its own; its messages go through a command that turns each away for a while."""
TRIES = "tries.txt"
"""Beside the team's folder: the id of a message for each time that it was handed to that command."""
TEAM = "team"
"""The team's folder within the demo's folder."""
LOG = "agents.log"
"""Beside the team's folder: what the agents had to complain about."""
_TURNED_AWAY = 4
"""Tries of a message that fail: after them it is given up, and the first try that a human asks for succeeds."""
_BUSY = 75
"""Exit status for what may succeed later, as sendmail has it (EX_TEMPFAIL)."""
_LOOK_EVERY = 0.15
_DELIVER_EVERY = 1.0
"""Seconds from one look of the agents at the team to the next, and from one delivery to the next."""
_PATIENCE = 8.0
"""Seconds in which the child should end by itself."""
_ENDINGS = (signal.SIGTERM, signal.SIGHUP)
_PROGRAM = (sys.executable, "-P", "-m", "team_console.console.demo.simulation")


@contextmanager
def simulation(*, seed: int, speed: float, keep: bool) -> Iterator[Path]:
    """A running team; yields its folder. However the block is left, the agents end, and the folder goes unless kept.

    The process that played it heeds no signal after that: it has nothing to do any more but to end.

    Args:
        seed: The same seed, the same words.
        speed: 2 is twice as fast.
    """
    for number in _ENDINGS:
        signal.signal(number, _leave)
    folder = Path(tempfile.mkdtemp(prefix="team-console-demo-"))
    child: subprocess.Popen[bytes] | None = None
    try:
        build_team(folder / TEAM)
        child = subprocess.Popen(
            [*_PROGRAM, "play", str(folder), str(seed), str(speed), "keep" if keep else "remove"],
            stdin=subprocess.PIPE,  # its tie to this process: the child ends with it
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        yield folder / TEAM
    finally:
        _close(folder, child, keep=keep)


def _close(folder: Path, child: subprocess.Popen[bytes] | None, *, keep: bool) -> None:
    """End the child and remove the folder; a second signal must not leave them behind, so nothing interrupts this."""
    for number in (*_ENDINGS, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    if child is not None:
        with suppress(subprocess.TimeoutExpired):
            child.communicate(timeout=_PATIENCE)  # its standard input ends
        child.kill()  # which does nothing to one that has ended
        child.wait()
    if not keep:
        shutil.rmtree(folder, ignore_errors=True)


def _leave(number: int, frame: FrameType | None) -> None:
    """Leave through the `finally` blocks, like Ctrl-C does."""
    raise SystemExit(128 + number)


# The team as the demo opens: what happened before is done by a clock that stands in the past.


def build_team(root: Path) -> None:
    """Make the team as the demo opens: a day of archived talk, and a plan that waits."""
    root.mkdir()
    agents = (Agent(STORY.lead, role="master"), *convert(STORY.agents, tuple[Agent, ...]))
    settings = root / CONFIG_NAME
    write_new_settings(settings, team=STORY.team, lead=STORY.lead, agents=agents)
    command = (*_PROGRAM, "turn_away", str(root.parent / TRIES))
    changed = change_member(settings.read_text(encoding="utf-8"), ABSENT, {"deliver": command})
    settings.write_text(changed, encoding="utf-8")
    (root / QUEUE_NAME).write_text("messages: []\n", encoding="utf-8")
    now = moment = utc_now()
    team = open_team(str(root), clock=lambda: moment)
    values: dict[str, Any] = {}
    for act in STORY.past:
        moment = now - timedelta(minutes=act.ago)
        done = perform(AgentClient(team, act.agent), act, {**values, "it": STORY.lists["plans"][act.of]})
        if act.name:
            values[act.name] = facts_of(first_message(done))
    clear(Caller(team, STORY.lead), older_than_days=0)
    team.close()


# The child process: all agents, and the router that tries the deliveries.


async def play(folder: Path, *, seed: int, speed: float) -> None:
    """Play until standard input ends, which it does when the parent is gone."""
    team = open_team(str(folder / TEAM))
    parent_is_gone = asyncio.Event()
    asyncio.get_running_loop().add_reader(sys.stdin.fileno(), parent_is_gone.set)
    actors: dict[str, Actor] = {}
    router = asyncio.ensure_future(_route(Caller(team, "router", 2.0)))
    seen = ""
    while not parent_is_gone.is_set():
        with suppress(TeamError):
            if (snapshot := team.snapshot()).revision != seen:
                for name in _living(snapshot):
                    if name not in actors:
                        actor = Actor(team, name, seed=seed, speed=speed)
                        actor.begin()
                        actors[name] = actor
                await asyncio.sleep(0)  # every life begins, and says what it waits for, before its first mail
                for actor in actors.values():
                    actor.hear()
                seen = snapshot.revision
        with suppress(TimeoutError):
            await asyncio.wait_for(parent_is_gone.wait(), _LOOK_EVERY)
    for actor in actors.values():
        actor.end()
    router.cancel()
    team.close()


def _living(snapshot: Snapshot) -> Iterator[str]:
    """Yield the members with a life of their own, and the temporary agents that the lead brought into being."""
    yield from (agent["name"] for agent in STORY.agents if agent["name"] != ABSENT)
    for message in snapshot.messages:
        if message.sender == STORY.lead and (read := parse_message(message)).name == "AGENT_CREATED":
            yield str(read.body.get("agent_name"))


async def _route(caller: Caller) -> None:
    """Deliver what is due to the absent member; what fails is tried again on the router's own schedule."""
    while True:
        try:
            await asyncio.to_thread(deliver, caller, only=[ABSENT])
        except TeamError as error:
            print(f"router: {error.code} {error.message}", file=sys.stderr, flush=True)
        await asyncio.sleep(_DELIVER_EVERY)


def _play_as_child(folder: str, seed: str, speed: str, keep: str) -> int:
    """Play in the folder given; remove it afterwards unless it is to be kept."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with (Path(folder) / LOG).open("a") as log:
        sys.stderr = log
        try:
            asyncio.run(play(Path(folder), seed=int(seed), speed=float(speed)))
        finally:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            if keep != "keep":
                shutil.rmtree(folder, ignore_errors=True)
    return 0


def _turn_away(path: str) -> int:
    """Count a try of the message on standard input; refuse the first ones with a reason, take it after that."""
    message_id = json.loads(sys.stdin.readline())["message_id"]
    with open(path, "a+", encoding="utf-8") as tries:
        tries.write(f"{message_id}\n")
        tries.seek(0)
        count = tries.read().split().count(message_id)
    if count > _TURNED_AWAY:
        return 0
    print("architect is in a meeting until the hour", file=sys.stderr)
    return _BUSY


if __name__ == "__main__":
    _program, part, *arguments = sys.argv
    sys.exit(_play_as_child(*arguments) if part == "play" else _turn_away(*arguments))
