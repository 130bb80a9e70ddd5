"""The list behind ? and ':' of every action, agent and open request: what is chosen is done or gone to."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from team_console.console.actions import Group, actions_in, shown_key, written_key
from team_console.console.selection import ActionContext, Mode
from team_console.console.tui.main import MainScreen
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
        rows.append(HelpRow(written_key(one.key), safe_line(one.run), one.name, "Your own", "", f"own:{number}"))
    order = list(Group)
    here = actions_in(context.mode, read_only=screen.cannot_write)
    for action in sorted(here, key=lambda action: order.index(action.group)):
        why = (action.disabled(context) or "") if action.group is not Group.CONSOLE else ""
        label = action.label.rstrip("…")
        rows.append(HelpRow(shown_key(action), action.help, label, str(action.group), why, action.id))
    return tuple(rows)


def _place_rows(screen: MainScreen) -> Iterator[HelpRow]:
    """Yield every agent and every open request, to go there."""
    for agent in screen.situation.roster:
        yield HelpRow("", f"agent {safe_line(agent.name, 64)}", "go to", "Agents", "", f"agent:{agent.name}")
    for request in screen.situation.requests:
        if request.is_open:
            name = f"{safe_line(request.title, 80)} · {request.kind} of {safe_line(request.asker, 64)}"
            yield HelpRow("", name, "go to", "Requests", "", f"request:{request.key}")


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
