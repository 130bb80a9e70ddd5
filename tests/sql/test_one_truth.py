"""One truth: every condition of every kind of team is the same word on every face (decision D16)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from msgspec import Struct
from team_console.console.cli.main import run
from team_console.store.backends.open import open_team
from team_console.store.service.caller import Caller
from team_console.store.service.sending import send
from team_console.store.settings.team_config import CONFIG_NAME, QUEUE_NAME
from team_console.store.views.status import State

from tests.console.conftest import opened as console_on
from tests.equipment.cases import constant
from tests.equipment.postgresql import new_location
from tests.equipment.samples import rotated
from tests.equipment.statements import execute
from tests.equipment.yaml_folder import HOLD, process, wait_for
from tests.sql.conftest import SETTINGS

pytestmark = pytest.mark.slow

NOTE = "one two three four five"


class Truth(Struct):
    """How a state is told, and how another program brings it about.

    Attributes:
        word: How text `status` begins.
        pulse: What stands in the status line of the screen, and `vitals` in Health.
        files: What it writes into a folder; None for a file that it takes away.
        rows: What it does in a database.
    """

    word: str
    pulse: str
    vitals: tuple[str, ...]
    files: dict[str, str | None] = {}
    rows: str = ""


TRUTHS = constant(__file__, "TRUTHS", dict[State, Truth])
CALM = (State.OK, State.EMPTY)
"""Of these no banner is shown."""
TABLE_LOCK = "BEGIN; LOCK TABLE agent_message IN SHARE ROW EXCLUSIVE MODE"
HOLD_FILE = (
    "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None);"
    "c.execute('BEGIN IMMEDIATE'); print('held', flush=True); sys.stdin.read()"
)
LISTS = (("requests",), ("roster",), ("inbox", "ceo"), ("history",), ("receive", "--agent", "ceo", "--peek"))


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The location of a new team of the kind asked for, which wrote once."""
    if request.param == "yaml":
        (tmp_path / CONFIG_NAME).write_text(SETTINGS)
        (tmp_path / QUEUE_NAME).write_text("messages: []\n")
        return str(tmp_path)
    from team_console.store.backends.open import create_database

    at = new_location(request.param, tmp_path)
    create_database(at, SETTINGS)
    return at


def bring_about(state: State, place: str, stack: ExitStack) -> None:
    """Make the team at `place` one of which `state` is the truth, as another program would."""
    if state is State.EMPTY:
        return
    with closing(open_team(place)) as team:
        send(Caller(team, "architect"), to="ceo", summary=NOTE, content="c")
    is_folder = "://" not in place and not place.endswith(".db")
    if state is State.LOCKED:
        _hold(place, stack, is_folder=is_folder)
    elif not is_folder and TRUTHS[state].rows:
        execute(place, TRUTHS[state].rows)
    for name, text in TRUTHS[state].files.items() if is_folder else ():
        path = Path(place) / name
        path.unlink()
        if text is not None:
            path.write_text(text)


def _hold(place: str, stack: ExitStack, *, is_folder: bool) -> None:
    """Hold the lock of the team from another process, or another session of its server."""
    if "://" in place:
        import psycopg

        holder = stack.enter_context(closing(psycopg.connect(place, autocommit=True)))
        holder.execute(TABLE_LOCK)
    elif is_folder:
        wait_for(stack.enter_context(process(HOLD, Path(place))), b"held")
    else:
        command = [sys.executable, "-c", HOLD_FILE, place]
        running = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        stack.enter_context(running)
        stack.callback(running.kill)
        wait_for(running, b"held\n")


@pytest.fixture
def says(place: str, capfd: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """Runs a verb on the team: status and everything it printed."""

    def say(*words: str) -> tuple[int, str]:
        status = run(["-t", place, *words])
        printed = capfd.readouterr()
        return status, printed.out + printed.err

    return say


Says = Callable[..., tuple[int, str]]
_KINDS = ("yaml", "sqlite", "postgresql")


def each_state(kinds: int) -> pytest.MarkDecorator:
    """Every state, each in as many kinds of stores."""
    return pytest.mark.parametrize(("state", "place"), rotated(TRUTHS, _KINDS, kinds), indirect=["place"])


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    """What is held until the test is over."""
    with ExitStack() as held:
        yield held


@each_state(2)
def test_every_verb_tells_the_same(place: str, state: State, says: Says, stack: ExitStack) -> None:
    bring_about(state, place, stack)
    code = 4 if state in (State.UNREADABLE, State.VANISHED) else 0
    status, text = says("status", "--json")
    seen = json.loads(text)
    assert (status, seen["condition"]) == (code, str(state)), text
    assert [item["state"] for item in seen["reasons"]][:1] == ([] if state in CALM else [str(state)])
    assert (seen["lock"] is not None) == (state is State.LOCKED)
    status, text = says("status")
    assert (status, f"condition  {TRUTHS[state].word}" in text) == (code, True), text
    checked = json.loads(says("check", "--json")[1])
    assert checked["condition"] == str(state)
    assert (state not in CALM) == any(item["severity"] in ("error", "warning") for item in checked["findings"])
    assert says("--read-only", "watch", "--for", "0")[1].startswith(f"watching {place}: {state}")
    for words in LISTS:
        status, text = says(*words)
        assert status == code, (words, text)
        if state in (State.DOUBT, State.SETTINGS):
            assert "warning: " in text, (words, text)


@each_state(1)
@pytest.mark.anyio
async def test_the_running_console_shows_it_in_status_line_banner_and_health(
    place: str,
    state: State,
    stack: ExitStack,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")
    bring_about(state, place, stack)
    pulse, vitals = TRUTHS[state].pulse, TRUTHS[state].vitals
    with closing(open_team(place)) as team:
        async with console_on(team, size=(200, 40)) as desk:
            await desk.until(lambda: pulse in desk.text.split("\n")[0], f"the pulse {pulse}")
            assert bool(desk.app.main.query_one("Banner").display) == (state not in CALM)
            await desk.press("4")
            await desk.until(lambda: all(word in desk.text for word in vitals), f"{vitals} in Health")


@pytest.fixture
def anyio_backend() -> str:
    """The loop of asynchronous tests."""
    return "asyncio"
