"""Moving about in the console: modes, panels, help, palette, theme, leaving."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from team_console.console.app.workspace import Workspace
from team_console.console.input.action import Action, Group, written_key
from team_console.console.input.actions import actions_in, grouped, shown_key
from team_console.console.input.subject import Mode, Subject
from team_console.widgets.rows.row_list import RowList
from textual.binding import Binding

if TYPE_CHECKING:
    from team_console.widgets.forms.help_panel import HelpRow


def go(mode: Mode, workspace: Workspace, subject: Subject) -> None:
    """Go to a mode."""
    workspace.go(mode)


def next_panel(workspace: Workspace, subject: Subject) -> None:
    """The next panel."""
    workspace.focus_next()


def previous_panel(workspace: Workspace, subject: Subject) -> None:
    """The panel before."""
    workspace.focus_previous()


def back(workspace: Workspace, subject: Subject) -> None:
    """Back out of the innermost thing."""
    workspace.back()


def palette(workspace: Workspace, subject: Subject) -> None:
    """Find an action by its name."""
    workspace.app.action_command_palette()


def show_help(workspace: Workspace, subject: Subject) -> None:
    """All keys of this place."""
    from team_console.widgets.forms.help_panel import HelpPanel

    sections = [("Move", movement())]
    found = grouped(actions_in(subject.mode, read_only=workspace.cannot_write))
    sections += [(str(group), tuple(_row(action, subject) for action in some)) for group, some in found.items()]
    intro = getattr(workspace.focused, "HELP", "") or ""
    order = [Group.DECIDE, Group.WRITE, Group.DELIVER]
    sections.sort(key=lambda section: section[0] not in order)
    workspace.app.push_screen(HelpPanel(subject.mode.label, intro, tuple(sections)))


def movement() -> tuple[HelpRow, ...]:
    """The keys of lists, from their real bindings."""
    from team_console.widgets.forms.help_panel import HelpRow

    made = [binding for binding in RowList.BINDINGS if isinstance(binding, Binding)]
    rows: dict[str, list[str]] = {}
    for item in made:
        if item.key not in ("space", "enter"):
            rows.setdefault(item.description, []).extend(item.key.split(","))
    return tuple(HelpRow(" ".join(written_key(key) for key in keys), words + ".") for words, keys in rows.items())


def redraw(workspace: Workspace, subject: Subject) -> None:
    """Read and draw everything anew."""
    workspace.redraw()


def theme(workspace: Workspace, subject: Subject) -> None:
    """Choose a theme, for the next time too."""
    from team_console.console.screens.theme_list import ThemeList

    workspace.app.push_screen(ThemeList())


def suspend(workspace: Workspace, subject: Subject) -> None:
    """Back to the shell."""
    workspace.app.action_suspend_process()


def leave(workspace: Workspace, subject: Subject) -> None:
    """Leave the console."""
    workspace.app.exit(0)


def _row(action: Action, subject: Subject) -> HelpRow:
    from team_console.widgets.forms.help_panel import HelpRow

    why = action.disabled(subject) if action.group is not Group.CONSOLE else None
    return HelpRow(shown_key(action), action.help, why or "")


HANDLERS = {
    "next_panel": next_panel,
    "previous_panel": previous_panel,
    "back": back,
    "palette": palette,
    "help": show_help,
    "redraw": redraw,
    "theme": theme,
    "suspend": suspend,
    "quit": leave,
    **{f"go_{mode}": partial(go, mode) for mode in Mode},
}
