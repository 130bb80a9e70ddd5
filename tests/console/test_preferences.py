"""The user's own settings: each mistake has its line and a hint, what is right holds, and the console looks so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from team_console.console.preferences import OwnCommand, Preferences, Sort, as_toml, check
from team_console.console.tui import app
from team_console.console.tui.commands import help_and_settings as commands
from team_console.console.tui.list_screens import PickerApp, ThemeList
from team_console.console.tui.notices import POP_TITLE
from team_console.console.tui.themes import CONTRAST, DARK
from team_console.store.service import sending
from team_console.store.service.caller import Caller

from tests.console.conftest import AUTHOR, LEAD, Clock, hand_in_plan, opened
from tests.equipment.memory_team import MemoryTeam


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], object]:
    """Writes the user's `config.toml`."""
    path = tmp_path / "config.toml"
    monkeypatch.setenv("TEAM_CONSOLE_CONFIG", str(path))
    monkeypatch.delenv("TEAM_CONSOLE_THEME", raising=False)
    return lambda text: path.write_text(text, encoding="utf-8")


WRONG: list[tuple[str, int, str, str]] = [
    (text.removesuffix("\n"), int(line), message, hint)
    for block in Path(__file__).with_name("wrong_settings.txt").read_text(encoding="utf-8").split("%%\n")
    for head, _, text in [block.partition("\n")]
    for line, message, hint in [[part.strip() for part in head.split(" |")]]
]
"""A text of settings; the line of its mistake, words of what is wrong, and of the next step."""
MADE = [
    (f"grace_seconds = 1{'0' * 400}", 1, "from 0 to 60", "0 writes at once"),
    (f"grace_seconds = {'9' * 5_000}", 0, "thousands of digits", "smaller"),
    ('theme = "\x07"', 1, "", ""),
]


@pytest.mark.parametrize(("text", "line", "message", "hint"), [*WRONG, *MADE])
def test_a_mistake_has_its_line_and_the_next_step(text: str, line: int, message: str, hint: str) -> None:
    checked = check(text)
    [mistake] = checked.mistakes
    assert (mistake.line, message in mistake.message, hint in mistake.hint) == (line, True, True), mistake
    assert mistake.message.isprintable()


def test_a_key_that_an_action_gave_up_is_free_for_a_command() -> None:
    checked = check('[[commands]]\nkey = "a"\nrun = "ls"\n[keys]\napprove = "A"')
    assert (checked.mistakes, [command.key for command in checked.preferences.commands]) == ((), ["a"])


def test_what_is_right_holds_beside_what_is_wrong() -> None:
    checked = check('nonsense = 1\ntheme = "light"\n[sort]\nagents = "age"\nagnets = 1')
    assert (checked.preferences.theme, checked.preferences.sort) == ("light", Sort(agents="age"))
    assert len(checked.mistakes) == 2


def test_what_is_shown_is_a_file_that_says_the_same() -> None:
    chosen = Preferences(
        theme="contrast",
        density="roomy",
        grace_seconds=2.5,
        keys={"approve": ("f5", "a")},
        sort=Sort(requests="agent"),
        notify="bell",
        notify_command=("say", 'a "b" \\'),
        commands=(OwnCommand("F", "wc -w {file}", output="toast"), OwnCommand("X", "ls", label="list")),
    )
    for preferences in (chosen, Preferences()):
        checked = check(as_toml(preferences))
        assert checked.mistakes == ()
        assert checked.preferences == preferences


@pytest.mark.anyio
async def test_a_theme_shows_while_the_cursor_is_on_it_and_is_kept_only_by_enter(
    team: MemoryTeam, write: Callable[[str], object]
) -> None:
    write('theme = "contrast"')
    assert PickerApp(lambda: ThemeList(remembers=False)).theme == CONTRAST
    async with opened(team) as desk:
        desk.app.theme = DARK
        await desk.performs("theme")
        await desk.until(lambda: isinstance(desk.front, ThemeList), "the list")
        await desk.pilot.press("j", "j")
        await desk.until(lambda: desk.app.theme == CONTRAST, "the preview")
        await desk.pilot.press("escape")
        await desk.until(lambda: desk.app.theme == DARK, "the theme of before")
        await desk.performs("theme")
        await desk.until(lambda: isinstance(desk.front, ThemeList), "the list")
        await desk.pilot.press("j", "j", "enter")
        await desk.is_back()
    write("")
    async with opened(team) as desk:
        assert desk.app.theme == CONTRAST  # the theme of last time


@pytest.mark.anyio
async def test_order_and_title_that_are_saved_in_the_editor_hold_at_once(
    team: MemoryTeam, clock: Clock, write: Callable[[str], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_in_plan(team, by="schedule-manager")
    clock.advance(1)
    hand_in_plan(team, by="file-manager")
    written = list[str]()
    saved = iter(['notify = "none"\nsort.requests = "agent"\n', 'sort.requests = "agent"\n', ""])
    monkeypatch.setattr(commands, "edit_file", lambda app, path: path.write_text(next(saved), encoding="utf-8"))
    monkeypatch.setattr(app, "write_to_terminal", lambda console, text: written.append(text))
    async with opened(team) as desk:
        await desk.press("1", "right")
        await desk.shows("═ All requests")
        await desk.lists(2)
        own = desk.rows
        await desk.press("comma")
        await desk.until(lambda: desk.rows == own[::-1], "requests by who asks")
        assert written[-1] == POP_TITLE
        await desk.press("o")
        await desk.tells("sorted by kind")
        order, sort = desk.rows, desk.app.main.pane.listing.sort
        await desk.press("comma")
        await desk.until(lambda: "(2) " in written[-1], "the title again")
        assert (desk.rows, desk.app.main.pane.listing.sort) == (order, sort), "an order of this console stays"
        await desk.press("comma")
        await desk.until(lambda: desk.rows == own, "requests in their own order again")


@pytest.mark.anyio
async def test_what_is_saved_in_the_editor_holds_at_once_and_a_mistake_leaves_what_held(
    team: MemoryTeam, write: Callable[[str], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_in_plan(team)
    saved = iter(
        [
            'density = "compact"\nkeys.filter = "F"\nkeys.approve = "A"\n'
            '[[commands]]\nkey = "X"\nrun = "echo once"\noutput = "toast"\n',
            'density = "roomy"\n\nthem = "dark"\n',
            'density = "roomy"\n',
        ]
    )
    monkeypatch.setattr(commands, "edit_file", lambda app, path: path.write_text(next(saved), encoding="utf-8"))
    async with opened(team) as desk:
        await desk.shows("PLAN · task-manager")
        await desk.press("comma")
        await desk.shows("A approve")
        assert "PLAN · task-manager" not in desk.text
        await desk.press("X")
        await desk.tells("once")
        await desk.press("comma")
        await desk.tells("The settings of before hold.\nconfig.toml:3: there is no them. Did you mean theme?")
        await desk.press("F")
        assert desk.app.main.pane.search.is_open
        await desk.press("escape", "comma")
        await desk.shows("PLAN · task-manager")
        said = len(desk.toasts)
        await desk.press("X", "F")
        assert not desk.app.main.pane.search.is_open
        await desk.press("slash")
        assert desk.app.main.pane.search.is_open
        assert "once" not in "".join(desk.toasts[said:])


@pytest.mark.anyio
async def test_hits_of_a_filter_are_marked_and_gone_to(team: MemoryTeam) -> None:
    for words in ("The loader is split in two", "The renderer is next in line", "The loader is tested now"):
        sending.send(Caller(team, AUTHOR), to=LEAD, summary=words, content="x")
    async with opened(team) as desk:
        pane = desk.app.main.pane
        await desk.press("slash")
        await desk.type("loader")
        await desk.until(lambda: len(desk.rows) == 2, "the hits")
        lines = [pane.rows.render_line(number) for number in range(5)]
        segments = [segment for line in lines for segment in line if segment.text == "loader"]
        assert [bool(segment.style and segment.style.underline) for segment in segments] == [True, True]
        await desk.press("escape", "g")
        assert len(desk.rows) == 3
        keys = []
        for name in ("next_hit", "next_hit", "previous_hit"):
            await desk.performs(name)
            keys.append(pane.rows.cursor_row.title)  # type: ignore[union-attr]
        assert all("loader" in title for title in keys)
        assert keys[0] == keys[2] != keys[1] or len(set(keys)) == 1
