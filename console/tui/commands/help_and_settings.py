"""The console itself: the list of all keys and actions, themes, settings and teams."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from team_console.console.actions import Group, actions_in, shown_key, written_key
from team_console.console.preferences import Preferences, as_toml, config_path, load_preferences, mistakes_in_words
from team_console.console.selection import ActionContext, Mode, is_page
from team_console.console.tui.drafts import replace_file
from team_console.console.tui.list_screens import TeamsScreen, ThemeList, teams_beside
from team_console.console.tui.main import MainScreen
from team_console.console.tui.terminal_programs import edit_file
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.safe import safe_line
from team_console.widgets.help_panel import HelpPanel, HelpRow
from team_console.widgets.row_list import RowList
from textual.binding import Binding


def show_help(screen: MainScreen, context: ActionContext) -> None:
    """Show all that can be done here or gone to, by key and by name, and do what is chosen."""
    panel = HelpPanel(
        f"Keys and actions · {context.mode.label}",
        (*_action_rows(screen, context), *movement_rows(), *_place_rows(screen)),
        intro=getattr(screen.focused, "HELP", "") or "",
    )
    screen.app.push_screen(panel, partial(_run_chosen, screen))


def _action_rows(screen: MainScreen, context: ActionContext) -> tuple[HelpRow, ...]:
    """Return the actions of this place: the human's own commands first, then deciding, writing and delivering."""
    rows = []
    for number, one in enumerate(screen.cache.preferences.commands):
        key, text = written_key(one.key), safe_line(one.run)
        rows.append(HelpRow(key, text, label=one.name, group="Your own", action=f"own:{number}"))
    order = list(Group)
    here = actions_in(context.mode, read_only=screen.cannot_write)
    for action in sorted(here, key=lambda action: order.index(action.group)):
        why = (action.disabled(context) or "") if action.group is not Group.CONSOLE else ""
        label, group = action.label.rstrip("…"), str(action.group)
        rows.append(HelpRow(shown_key(action), action.help, label, group, why_not=why, action=action.id))
    return tuple(rows)


def _place_rows(screen: MainScreen) -> Iterator[HelpRow]:
    """Yield every agent and every open request, to go there."""
    for agent in screen.situation.roster:
        name = f"agent {safe_line(agent.name, 64)}"
        yield HelpRow("", name, "go to", "Agents", action=f"agent:{agent.name}")
    for request in screen.situation.requests:
        if request.is_open:
            name = f"{safe_line(request.title, 80)} · {request.kind} of {safe_line(request.asker, 64)}"
            yield HelpRow("", name, "go to", "Requests", action=f"request:{request.key}")


def _run_chosen(screen: MainScreen, chosen: str | None) -> None:
    kind, _, what = (chosen or "").partition(":")
    if kind == "agent":
        screen.lists.go_to_agent(what)
    elif kind == "request":
        screen.lists.go_to_row(Mode.REQUESTS, what)
    elif chosen:
        screen.action_perform(chosen)


def movement_rows() -> tuple[HelpRow, ...]:
    """Return the keys of lists, from their real bindings."""
    rows: dict[str, list[str]] = {}
    for item in RowList.BINDINGS:
        if isinstance(item, Binding) and item.key not in ("space", "enter"):
            rows.setdefault(item.description, []).extend(item.key.split(","))
    return tuple(HelpRow(" ".join(map(written_key, keys)), f"{words}.", group="Move") for words, keys in rows.items())


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
