"""Themes, settings and teams: what the whole console is about."""

from __future__ import annotations

from functools import partial

from team_console.console.browser import is_page
from team_console.console.preferences import Preferences, as_toml, config_path, load_preferences, mistakes_in_words
from team_console.console.selection import ActionContext
from team_console.console.tui.editor import edit_file
from team_console.console.tui.list_screens import TeamsScreen, ThemeList, teams_beside
from team_console.console.tui.main import MainScreen
from team_console.console.tui.state_files import replace_file
from team_console.store.model.errors import Code, TeamError


def theme(screen: MainScreen, context: ActionContext) -> None:
    """Choose a theme, for the next time too."""
    screen.app.push_screen(ThemeList(remembers=not screen.read_only))


def settings(screen: MainScreen, context: ActionContext) -> None:
    """Open the settings in the human's own editor; what it left holds at once, unless there is a mistake in it."""
    if screen.read_only:
        screen.toast("A read-only console changes no file. Change settings in another one.", severity="warning")
        return
    screen.try_to(lambda: _edit_settings(screen))


def _edit_settings(screen: MainScreen) -> str:
    """Let the human edit the settings, made first where there are none; return what to say of it."""
    path = config_path()
    if not path.exists():
        try:
            replace_file(path, as_toml(Preferences()).encode())
        except OSError as error:
            text = f"{path} cannot be made: {error.strerror}"
            raise TeamError(Code.STORE_FAILED, text, "Make its folder writable.") from error
    edit_file(screen.app, path)
    checked = load_preferences()
    if checked.mistakes:
        screen.toast(f"The settings of before hold.\n{mistakes_in_words(checked.mistakes)}", severity="error")
        return ""
    screen.take_preferences(checked.preferences)
    return "✓ The settings hold."


def teams(screen: MainScreen, context: ActionContext) -> None:
    """Show all teams, and go to the one that is chosen; in a browser, whose address was given away for one, none."""
    # guard: page-keeps-its-team
    if is_page():
        screen.toast("In a browser this team alone is shown.", severity="warning")
        return

    def go(location: str | None) -> None:
        if location is not None and location != screen.caller.team.location:
            screen.try_to(lambda: screen.app.switch_team(location))  # type: ignore[attr-defined]

    screen.app.push_screen(TeamsScreen(partial(teams_beside, screen.caller.team)), go)
