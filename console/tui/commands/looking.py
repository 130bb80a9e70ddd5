"""Looking without writing: marks, copies, help, themes, teams, and what was said, happened or is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from team_console.console.actions import Group, actions_in, shown_key, written_key
from team_console.console.browser import is_page
from team_console.console.preferences import Preferences, as_toml, config_path, load_preferences, mistakes_in_words
from team_console.console.selection import ActionContext, Mode
from team_console.console.tui.absence import digest_title, news_of_team
from team_console.console.tui.drafts import replace_file
from team_console.console.tui.editor import edit_file, run_in_terminal, view_text
from team_console.console.tui.main import MainScreen
from team_console.console.tui.modes.needs import NeedsPane
from team_console.console.tui.screens import ReadingScreen, TeamsScreen, ThemeList, teams_beside
from team_console.store.model.counted import counted
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.safe import safe_line, safe_text
from team_console.store.views.conversation import gather_thread
from team_console.store.views.digest import DigestGroup, group_head, happening_line
from team_console.store.views.history import newest_archived
from team_console.store.views.rows import View
from team_console.store.views.status import MOST_ARCHIVED
from team_console.store.views.stopping import stops_of
from team_console.widgets.ages import clock_time, span
from team_console.widgets.bars import Card
from team_console.widgets.conversation_document import conversation_document
from team_console.widgets.document import Block, Document, Heading, Lines
from team_console.widgets.fields import FieldKind, words_of_a_decision
from team_console.widgets.help_panel import HelpPanel, HelpRow
from team_console.widgets.prompt_form import Confirm
from team_console.widgets.row_list import RowList
from team_console.widgets.shutdown_document import shutdown_document
from team_console.widgets.text import Line
from textual.binding import Binding


def list_of_marks(screen: MainScreen) -> RowList[Any]:
    """Return the list that has the focus, else the one of the mode."""
    return screen.focused if isinstance(screen.focused, RowList) else screen.pane.query_one(RowList)


def mark(screen: MainScreen, context: ActionContext) -> None:
    """Mark the row that has the focus."""
    if isinstance(screen.focused, RowList):
        screen.focused.action_mark()


def snooze(screen: MainScreen, context: ActionContext) -> None:
    """Put the chosen items aside for a while."""
    if isinstance(screen.pane, NeedsPane):
        number, seconds = screen.pane.snooze()
        if number:
            screen.toast(f"{number} snoozed for {span(seconds)}; :wake shows {'it' if number == 1 else 'them'} again")


def wake(screen: MainScreen, context: ActionContext) -> None:
    """Show what is snoozed."""
    if isinstance(screen.pane, NeedsPane):
        screen.pane.wake()


def raw(screen: MainScreen, context: ActionContext) -> None:
    """Change between read and plain texts."""
    plain = screen.pane.detail.toggle_raw()
    screen.toast("texts as they were written" if plain else "texts as they are meant")


def sort(screen: MainScreen, context: ActionContext) -> None:
    """Sort by the next column."""
    name = screen.pane.listing.sort_next()
    if name is not None:
        screen.pane.fill()
        screen.toast(f"sorted by {name}" if name else "in their own order")


def copy_id(screen: MainScreen, context: ActionContext) -> None:
    """Copy the id of the request, else of the message, else the key of the row."""
    selection = context.selection
    if selection.subject:
        _copy(screen, safe_line(selection.subject), "id")
    elif selection.agents and not selection.marked:
        _copy(screen, safe_line(selection.agents[0]), "name")
    elif selection.key:  # of marked agents it is still the one under the cursor
        _copy(screen, safe_line(selection.key), "name")


def copy_text(screen: MainScreen, context: ActionContext) -> None:
    """Copy the text of what the cursor is on; a cursor that moves fast is ahead of the detail."""
    screen.pane.presenter.show_now()
    document = screen.pane.detail.document
    if document is not None and document.source:
        # As it is written, lines as lines; what could end a bracketed paste is a symbol in it.
        _copy(screen, safe_text(document.source).rstrip(), "text")
    elif command := screen.pane.first_step():
        _copy(screen, safe_line(command), "command")
    else:
        screen.toast("There is no text to copy here.", severity="warning")


def _copy(screen: MainScreen, text: str, what: str) -> None:
    """Copy safe text, and say how much: a program without bracketed pastes takes each line break for enter."""
    screen.app.copy_to_clipboard(text)
    lines = text.count("\n") + 1
    screen.toast(f"Copied the {what}, {counted(lines, 'line') if lines > 1 else counted(len(text), 'character')}")


# Help, themes, settings, teams.


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


# One thing on the whole screen, one after the other, searched, in an editor, piped to a command.


def read(screen: MainScreen, context: ActionContext) -> None:
    """Give what is under the cursor the whole screen, or the list its place again."""
    screen.pane.presenter.show_now()
    screen.pane.set_reading(not context.is_reading)
    screen.bars.show()  # in the same picture as the list or the text


def next_hit(direction: int, screen: MainScreen, context: ActionContext) -> None:
    """Go to the next place with the words looked for; while reading without any, to the next thing."""
    pane = screen.pane
    if not ((direction > 0 and pane.leave_ended()) or pane.search.next_hit(direction)):
        last = "That was the last one." if context.is_reading else "No more matches. / searches for other words."
        screen.toast(last, severity="warning")


def previous_thing(screen: MainScreen, context: ActionContext) -> None:
    """Go to the thing before the one that is read."""
    if not screen.pane.step(-1):
        screen.toast("That was the first one.", severity="warning")


def next_heading(direction: int, screen: MainScreen, context: ActionContext) -> None:
    """Go to the next heading, or the one before."""
    screen.pane.presenter.show_now()
    screen.pane.detail.next_heading(direction)


def editor(screen: MainScreen, context: ActionContext) -> None:
    """Show the text in the human's own editor."""
    _try_with_text(screen, partial(view_text, screen.app), screen.pane.presenter.text_read())


def pipe(screen: MainScreen, context: ActionContext) -> None:
    """Ask for a command, and hand it the text."""
    text = screen.pane.presenter.text_read()
    wanted = "less, wc -w, grep rollback, glow -p ..."
    form = Confirm[str](
        "Pipe the text",
        ("The command runs in your shell and reads the text as its input.",),
        lambda command: command,
        verb="Run",
        words=words_of_a_decision("command", FieldKind.LINE, required=True, wanted=wanted),
        draft=screen.drafts.get("pipe"),
    )

    def then(command: str) -> None:
        screen.drafts.keep("pipe", {"words": command})
        _try_with_text(screen, lambda text: run_in_terminal(screen.app, command, text), text)

    screen.ask(form, then)


def _try_with_text(screen: MainScreen, do: Callable[[str], str], text: str) -> None:
    if text:
        screen.try_to(lambda: do(text))
    else:
        screen.toast("There is no text here.", severity="warning")


# What is read over the whole screen: what happened, was said, belongs together, or is asked to stop.

_TOLD_BACK_TO = timedelta(hours=12)
"""How far back is told where it is not known when the human left."""
_RENEWED_EVERY = 5.0
"""Seconds between two looks at the clock while somebody is asked and has not answered."""


def since(screen: MainScreen, context: ActionContext) -> None:
    """Show what happened since the human was last here: a summary, then everything."""
    moment = screen.absence.left_at or screen.caller.team.clock() - _TOLD_BACK_TO
    if screen.query_one(Card).dismiss():
        title = digest_title(moment, screen.now, has_left=screen.absence.left_at is not None)
        screen.app.push_screen(ReadingScreen(title, screen.view, partial(_digest_document, screen, moment)))
    else:
        screen.absence.tell(moment, always=True)


def _digest_document(screen: MainScreen, since: datetime, view: View) -> Document:
    """Return all that happened since a moment, by kind, made from records alone."""
    team = screen.caller.team
    found, now = news_of_team(team, view, since), team.clock()
    blocks: list[Block] = []
    for group in DigestGroup:
        if items := found.of(group):
            lines = (
                ((f"{clock_time(item.at, now)}  ", "muted"), (safe_line(happening_line(item), 400), ""))
                for item in items
            )
            blocks += [Heading(group_head(group, len(items))), Lines(tuple(lines), indent=10)]
    blocks += [Heading("not known"), Lines(tuple(((safe_line(text, 300), "muted"),) for text in found.unknown))]
    return Document(key="digest", title=counted(len(found.happened), "thing"), blocks=tuple(blocks))


def said(screen: MainScreen, context: ActionContext) -> None:
    """Read again what the console said last."""

    def document(view: View) -> Document:
        now, blocks = screen.caller.team.clock(), []
        for at, severity, text in screen.last_said:
            tone = {"error": "bad", "warning": "warn"}.get(severity, "")
            first, *more = text.split("\n")
            lines: tuple[Line, ...] = (((f"{clock_time(at, now)}  ", "muted"), (first, tone)),)
            blocks.append(Lines((*lines, *(((f"  {line}", tone),) for line in more)), indent=10))
        nothing = Lines((((("Nothing was said yet."), "muted"),),))
        return Document(key="said", title="Said last", blocks=tuple(blocks) or (nothing,))

    screen.app.push_screen(ReadingScreen("Said last", screen.view, document))


def conversation(screen: MainScreen, context: ActionContext) -> None:
    """Open what belongs to the message or request under the cursor, live and archived, the oldest first."""
    word, team = context.selection.subject, screen.caller.team

    def document(view: View) -> Document:
        thread = gather_thread(team, view.snapshot, word, newest_archived(team, limit=MOST_ARCHIVED), view.requests)
        if thread is not None:
            return conversation_document(thread, view.requests, now=team.clock())
        text = f"Nothing is known any more under {safe_line(word, 120)}."
        return Document(key="nothing", title="Conversation", blocks=(Lines((((text, "muted"),),)),))

    if word:
        screen.app.push_screen(ReadingScreen("Conversation", screen.view, document))


def stops(screen: MainScreen, context: ActionContext) -> None:
    """Watch the shutdown of the team: who was asked, has it, agreed or refused, ended, and who is left."""

    def document(view: View) -> Document:
        busy = screen.bars.busy if screen.bars.busy.startswith("stopping") else ""
        return shutdown_document(stops_of(view), now=screen.caller.team.clock(), busy=busy)

    stop = screen.background.cancel_stopping
    screen.app.push_screen(
        ReadingScreen("Shutdown of the team", screen.view, document, every=_RENEWED_EVERY, stop=stop)
    )
