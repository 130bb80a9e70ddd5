"""Shared by tests of the console: a team in memory, and the app on it driven by keys."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import textual.app
import textual.pilot
from team_console.console.tui import key_queue, main
from team_console.console.tui.app import ConsoleApp
from team_console.console.tui.modes.pane import Pane
from team_console.store.contract.team import Team
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message, from_record
from team_console.store.service import asking, requests, sending
from team_console.store.service.caller import Caller, Receipt
from team_console.store.settings.team_config import Agent
from team_console.widgets import form_gate
from team_console.widgets.form import Form
from team_console.widgets.form_gate import GatedPanel
from textual._context import active_app
from textual.pilot import Pilot
from textual.widget import Widget
from textual.widgets import Static

from tests.equipment.idle_widgets import wait_for_widgets
from tests.equipment.memory_team import MemoryTeam
from tests.equipment.teams import team_of

WAIT = 60.0
_ROUNDS = 2
"""A change is laid out in the first; what the layout moves is handled in the second."""
LEAD, AUTHOR = "ceo", "task-manager"
AGENTS = (AUTHOR, "schedule-manager", "file-manager")


@pytest.fixture
def anyio_backend() -> str:
    """The loop of asynchronous tests."""
    return "asyncio"


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No animations, one theme, no grace, no pause between keys, and a state folder of the test's own."""
    monkeypatch.setattr(form_gate, "LOOK", 0.01)
    monkeypatch.setattr(key_queue, "REPEAT", 0.0)
    monkeypatch.setenv("TEAM_CONSOLE_GRACE", "0")
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("TEAM_CONSOLE_THEME", "dark")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("NO_COLOR", raising=False)


@pytest.fixture
def long_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """A grace that ends only when a test ends it."""
    monkeypatch.setenv("TEAM_CONSOLE_GRACE", "60")


@pytest.fixture(autouse=True)
def keys_are_through(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key counts as pressed once it has gone all its way; Textual waits until the process was idle for 20 ms.

    An app that failed is not waited for: then the test says with what.
    """
    handle = ConsoleApp.fail

    def failed(app: ConsoleApp, error: Exception) -> None:
        app._exception_event.set()
        handle(app, error)

    monkeypatch.setattr(ConsoleApp, "fail", failed)
    monkeypatch.setattr(Pilot, "_wait_for_screen", wait_for_widgets)
    monkeypatch.setattr(textual.app, "wait_for_idle", _until_through)
    monkeypatch.setattr(textual.pilot, "wait_for_idle", _until_through)


async def _until_through(min_sleep: float = 0.0, max_sleep: float = WAIT) -> None:
    app = active_app.get()
    deadline = time.monotonic() + max_sleep
    for pause in (0.0, 0.02, 0.0):  # Done; painted, as often as a screen is; and what followed from that.
        await Pilot(app)._wait_for_screen()
        await asyncio.sleep(pause)
        app.screen._on_timer_update()
        while isinstance(app, ConsoleApp) and (app._keys._waiting or app._keys._is_following):
            assert time.monotonic() < deadline, "a key got stuck"
            await asyncio.sleep(0.001)


class Clock:
    """A clock that only the test moves."""

    def __init__(self) -> None:
        self.now = datetime(2026, 2, 24, 10, 30, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Clock:
    """The clock of `team`."""
    return Clock()


@pytest.fixture
def team(clock: Clock) -> MemoryTeam:
    """Four agents under `ceo`; `task-manager` works in plan mode."""
    agents = (Agent(name, plan_mode_required=name == AUTHOR) for name in (LEAD, *AGENTS))
    return MemoryTeam(config=team_of(*agents), clock=clock)


@dataclass
class Desk:
    """The console of a test: what stands on it, and keys for it."""

    app: ConsoleApp
    pilot: Pilot[int]

    @property
    def rows(self) -> list[str]:
        """The rows of the present mode, by key."""
        pane = self.app.main.pane
        assert isinstance(pane, Pane)
        return [pane.listing.key_of(row) for row in pane.rows.rows]

    @property
    def front(self) -> Widget:
        """What keys are about: the open form, else the screen in front."""
        return self.app.main.form if self.app.main.form is not None else self.app.screen

    @property
    def text(self) -> str:
        """The whole screen as text."""
        return "\n".join(strip.text for strip in self.app.screen._compositor.render_strips())

    @property
    def said(self) -> str:
        """What the open form says went wrong, or is going on."""
        front = self.front
        line = front.message_line if isinstance(front, GatedPanel) else front.query_one(".form--error", Static)
        return " ".join(str(line.content).split())

    @property
    def toasts(self) -> list[str]:
        """What was said, oldest first."""
        return [notification.message for notification in self.app._notifications]

    @property
    def detail(self) -> str:
        """The text of what the detail shows."""
        pane = self.app.main.pane
        assert isinstance(pane, Pane)
        return "\n".join("".join(text for text, _ in line) for line in pane.detail._lines)

    async def press(self, *keys: str) -> None:
        """Press keys, one after the other, each in view of what it acts on."""
        for key in keys:
            await self.until(self.can_act, "a screen to act on")
            await self.pilot.press(key)
        await self.pilot.pause(0)

    async def performs(self, *names: str) -> None:
        """Do actions by their names, one after the other, as the list of actions does."""
        for name in names:
            await self.until(self.can_act, "a screen to act on")
            self.app.main.action_perform(name)
        await self.pilot.pause(0)

    def can_act(self) -> bool:
        """Whether what stands in front takes keys."""
        return bool(getattr(self.app.screen, "takes_keys", True))

    async def type(self, text: str) -> None:
        """Type a text."""
        names = {" ": "space", ".": "full_stop", ",": "comma", "-": "minus"}
        await self.pilot.press(*(names.get(item, item) for item in text))

    async def until(self, condition: Callable[[], bool], what: str = "") -> None:
        """Wait until `condition` holds."""
        deadline = time.monotonic() + WAIT
        while not condition():
            is_over = time.monotonic() > deadline or self.app._exception_event.is_set()
            assert not is_over, f"never happened: {what}\n{self._report()}"
            await self.pilot.pause(0.02)
        await self.settle()

    def _report(self) -> str:
        """What stands there, and what tells why: what was said, which widget has the keys, defects."""
        main = self.app.main
        facts = [text for _, _, text in main.last_said], self.app.focused, self.app.screen, self.app.defects.all
        return "\n".join([self.text, *map(repr, facts), f"held: {main.takes_keys=} {main.background.opens_form=}"])

    async def settle(self) -> None:
        """Let the screen stand as what was done until now makes it: handled, laid out and painted."""
        for _ in range(_ROUNDS):
            await self.pilot._wait_for_screen()
            if self.app._screen_stack:
                self.app.screen._on_timer_update()

    async def shows(self, *texts: str) -> None:
        """Wait until each of these texts stands on the screen."""
        await self.until(lambda: all(text in self.text for text in texts), f"a screen with {texts}")

    async def reads(self, *texts: str) -> None:
        """Wait until each of these texts stands in the detail."""
        await self.until(lambda: all(text in self.detail for text in texts), f"a detail with {texts}")

    async def lists(self, number: int) -> None:
        """Wait until the present mode has so many rows."""
        await self.until(lambda: len(self.rows) == number, f"{number} rows")

    async def tells(self, text: str) -> None:
        """Wait until a toast with this text was shown."""
        await self.until(lambda: any(text in toast for toast in self.toasts), f"a toast with {text}")

    async def looks_through(self) -> None:
        """Have each row of the list under the cursor once, until its beginning was on the screen."""
        main = self.app.main
        await self.press("g")
        for _ in main.pane.rows.rows:
            await self.until(
                lambda: main.pane.presenter.is_drawn and not main.cache.unseen(main.pane.selection().token), "a thing"
            )
            await self.press("j")
        await self.press("g")

    async def asks(self, *keys: str) -> Form[object]:
        """Press keys, the last of which opens a form; that form."""
        await self.press(*keys)
        return await self.form()

    async def is_back(self) -> None:
        """Wait until nothing lies over the lists."""
        await self.until(lambda: self.front is self.app.main, "the lists alone")

    async def decided(self, team: Team, number: int = 1) -> None:
        """Wait until so many plans are answered on record."""
        await self.until(lambda: len(verdicts(team)) >= number, f"{number} verdicts")

    async def approves(self, team: Team, number: int = 1) -> None:
        """Approve what is under the cursor in a form, and wait until so many plans are answered on record."""
        await self.asks("a")
        await self.press("enter")
        await self.decided(team, number)

    async def form(self) -> Form[object]:
        """The form that is open, once there is one."""
        await self.until(lambda: isinstance(self.front, Form), "an open form")
        assert isinstance(self.front, Form)
        return self.front

    async def calm(self) -> None:
        """Let the pause after a change under the cursor be over."""
        await self.until(lambda: self.app.main.pane.chosen_from.disturbances.seconds_since() > 0.7, "a quiet list")


@asynccontextmanager
async def opened(
    team: Team,
    *,
    me: str = LEAD,
    size: tuple[int, int] = (120, 40),
    read_only: bool = False,
    faults: tuple[str, ...] | None = (),
) -> AsyncIterator[Desk]:
    """The console on `team`, once it has read it; at the end it has the defects `faults`, by default none."""
    app = ConsoleApp(team, me=me, read_only=read_only)
    with app.presence:
        async with app.run_test(size=size, notifications=True) as pilot:
            desk = Desk(app, pilot)
            await desk.until(lambda: app.main.situation.reading is not None, "a first reading")
            await desk.until(
                lambda: app.main.view is None or app.main.lists.shown_in_front is app.main.situation, "rows"
            )
            await pilot.pause()
            yield desk
            app.drafts.flush()
            assert faults is None or [fault.kind for fault in app.defects.all] == list(faults)


def _shows_what_was_read(app: ConsoleApp) -> bool:
    return app.main.view is None or app.main.lists.shown_in_front is app.main.situation


def hand_in_plan(
    team: Team, title: str = "Refactor the report generator now", content: str = "1. Split\n2. Test", by: str = AUTHOR
) -> str:
    """A plan of the author, or of another agent; its request id."""
    receipt = requests.submit_plan(Caller(team, by), content=content, summary=title)
    assert receipt.request_id is not None
    return receipt.request_id


def three_plans(team: Team) -> list[str]:
    """A plan of each agent; their request ids."""
    return [hand_in_plan(team, f"A plan of {name} for today", "1. Do it", by=name) for name in AGENTS]


def ask_permission(team: Team, command: str = "make test", by: str = AUTHOR, **more: Any) -> str:
    """A permission of the author, or of another agent, to run a command; its request id."""
    given = {"directory": "/srv/atlas", "input": {"command": command}, **more}
    receipt = asking.ask_permission(Caller(team, by), tool="Bash", **given)
    assert receipt.request_id is not None
    return receipt.request_id


def letter(
    team: Team, summary: str = "The report is ready for reading", content: str = "Here it is", to: str = LEAD
) -> Receipt:
    """A plain message of the author."""
    return sending.send(Caller(team, AUTHOR), to=to, summary=summary, content=content)


def verdicts(team: Team) -> list[Message]:
    """Every answer to a plan on record."""
    return [message for message in team.snapshot().messages if message.type == "plan_approval_response"]


async def in_thread(work: Callable[[], object]) -> None:
    """Another writer at work."""
    await asyncio.to_thread(work)


def rewrite(team: MemoryTeam, message_id: str, **payload: object) -> None:
    """Change what a stored message says as an agent that edits the queue by hand does."""
    (message,) = [message for message in team.snapshot().messages if message.message_id == message_id]
    change(team, message_id, payload={**message.payload, **payload})


def change(team: MemoryTeam, message_id: str, **fields: object) -> None:
    """Change fields of a stored message."""
    state = team._state
    state.messages = tuple(
        from_record({**message.record, **fields}) if message.message_id == message_id else message
        for message in state.messages
    )
    state.revision += 1


def edited_by(monkeypatch: pytest.MonkeyPatch, old: str = "", new: str = "") -> None:
    """Stand in for the human's editor, which replaces some words; SUFFIX is the end of the file's name there.

    Without words it cannot be run.
    """

    def editor(app: object, text: str, suffix: str) -> str:
        if not old:
            raise TeamError(Code.SPAWN_FAILED, "the editor vi cannot be run", "Set EDITOR.")
        return text.replace(old, new.replace("SUFFIX", suffix)) + "\n"

    monkeypatch.setattr(main, "edit_text", editor)
