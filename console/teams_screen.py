"""All teams that are known here, with what waits in each."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

from msgspec import Struct
from team_console.store.backends.open import find_teams, open_team
from team_console.store.model.errors import TeamError
from team_console.store.model.safe import counted, safe_line
from team_console.store.service.caller import Caller
from team_console.store.settings.team_config import TeamConfig
from team_console.store.views.needs import to_do
from team_console.store.views.status import assess, view_of_team
from team_console.widgets.overlay import Overlay
from team_console.widgets.row_list import Drawing, RowList
from team_console.widgets.text import Line, spread
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.worker import Worker, WorkerState


class TeamRow(Struct, frozen=True):
    """One team: its name, how many things wait for its lead, and what else there is to say of it; safe text."""

    location: str
    name: str
    waiting: int = 0
    words: str = ""


class TeamsScreen(Overlay, ModalScreen[str]):
    """Teams beside this one and below the folder the console was opened in; its result is the one that is chosen."""

    DEFAULT_CSS = """
    TeamsScreen { align: center middle; background: $background 60%; }
    TeamsScreen > RowList { width: 90; max-width: 96%; height: 70%; background: $surface; border: round $accent;
        border-title-color: $text-accent; border-subtitle-color: $text-muted; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss", "Close", show=False)]
    HELP = "Every team that was found, with what waits in it. Enter goes there, esc stays here."

    def __init__(self, caller: Caller) -> None:
        super().__init__()
        self._caller = caller

    def compose(self) -> ComposeResult:
        """The list."""
        yield RowList[TeamRow](lambda row: row.location, _team_lines, lines=2, markable=False)

    def on_mount(self) -> None:
        """Look for them."""
        rows = self.query_one(RowList)
        rows.border_title, rows.border_subtitle = Content("Teams"), Content("enter go there · esc back")
        rows.set_rows((), now=datetime.now(UTC), empty=((("◔ looking for teams …", "muted"),),))
        rows.focus()
        self.run_worker(lambda: teams_here(self._caller), thread=True, group="teams", exit_on_error=False)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """They were found."""
        if event.worker.group == "teams" and event.state is WorkerState.SUCCESS:
            found: Any = event.worker.result
            self.query_one(RowList).set_rows(found, now=datetime.now(UTC), empty=((("No team was found.", "muted"),),))

    @on(RowList.Opened)
    def _chosen(self, event: RowList.Opened) -> None:
        self.dismiss(event.key)


def teams_here(caller: Caller) -> tuple[TeamRow, ...]:
    """This team, those beside it and those below the present folder; those with most to do first. Runs in a thread."""
    root, here = caller.team.root, Path.cwd()
    folders = find_teams(Path(root).resolve().parent, depth=1) if root is not None else []
    found = dict.fromkeys((caller.team.location, *folders, *find_teams(here)))
    return tuple(sorted(map(_team_row, found), key=lambda row: -row.waiting))


def _team_row(location: str) -> TeamRow:
    name = safe_line(Path(location).name, 60)
    try:
        team = open_team(location, read_only=True)
    except TeamError as error:
        return TeamRow(location, name, words=safe_line(error.message, 200))
    try:
        snapshot = team.snapshot()
        lead = snapshot.config.lead
        view = view_of_team(team, snapshot, me=lead, archived=0, lists=False)
        state = assess(snapshot, view.now).state
        words = f"{counted(len(view.roster), 'agent')} · {safe_line(lead, 64)} leads · {state}"
        given = snapshot.config.name
        return TeamRow(
            location, name if given == TeamConfig().name else safe_line(given, 60), to_do(view.attention), words
        )
    except TeamError as error:
        return TeamRow(location, name, words=safe_line(error.message, 200))
    finally:
        team.close()


def _team_lines(row: TeamRow, drawing: Drawing) -> tuple[Line, ...]:
    waits = f"{row.waiting:,} waiting" if row.waiting else ""
    head = spread((("◆ ", "accent"), (row.name, "strong")), ((waits + " ", "warn"),), drawing.width)
    return head, ((f"  {row.words}  ", "muted"), (safe_line(row.location, 300), "faint"))
