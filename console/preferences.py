"""Preferences of one user: keys, look, sorting, notices; every field has the default that holds without a file."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace
from team_console.store.model.clock import utc_now
from team_console.store.model.errors import TeamError
from team_console.store.model.home import home
from team_console.store.model.safe import safe_line
from team_console.store.views.search import parse_query

DENSITIES = ("compact", "roomy")


class Notices(Struct, frozen=True):
    """How the user is told of new decisions.

    Attributes:
        title: The count stands in the terminal's title.
        status: The terminal is told whether something waits (OSC 7501).
        progress: The bar of the terminal or task bar is full and paused while something waits (OSC 9;4).
        bell: The terminal's bell rings.
        desktop: The terminal is asked for a notice of the desktop (OSC 9 and OSC 777).
        command: A program with its arguments, run without a shell; the sentence is added as its last one.
        quiet: Spans of local time without bell, notice and command, such as `22:00-07:00`.
        read_only: Be told over a read-only team, too.
    """

    title: bool = True
    status: bool = True
    progress: bool = False
    bell: bool = False
    desktop: bool = False
    command: tuple[str, ...] = ()
    quiet: tuple[str, ...] = ()
    read_only: bool = False


NOTICE_FLAGS = ("title", "status", "progress", "bell", "desktop", "read_only")


OUTPUTS = ("pager", "toast", "terminal", "none")
PLACEHOLDERS = re.compile(r"\{(id|agent|file|text)\}")


class OwnCommand(Struct, frozen=True):
    """A command of the user's own.

    Attributes:
        key: The key that runs it.
        run: A line for the shell, in which `{id}`, `{agent}`, `{file}` (its text in a file) and `{text}` become words.
        output: Where its output goes: `pager`, `toast`, `terminal` (it has the terminal meanwhile) or `none`.
        label: What `?` and the palette call it.
    """

    key: str
    run: str
    output: str = OUTPUTS[0]
    label: str = ""

    @property
    def name(self) -> str:
        """What it is called: its label, else its line."""
        return safe_line(self.label or self.run, 60)

    @property
    def placeholders(self) -> tuple[str, ...]:
        """The names of those that it has."""
        return tuple(dict.fromkeys(PLACEHOLDERS.findall(self.run)))


def quoted_placeholder(run: str) -> str:
    """The first placeholder that stands in quotes, where its own quotes would end them; empty for none."""
    quote, place = "", 0
    while place < len(run):
        if quote and (found := PLACEHOLDERS.match(run, place)):
            return found[0]
        letter = run[place]
        place += 1 + (letter == "\\" and quote != "'")
        if letter in "'\"`" and quote in ("", letter):
            quote = "" if quote else letter
    return ""


class Preferences(Struct, frozen=True):
    """All a user may choose.

    Attributes:
        theme: The theme to begin with; empty for that of last time.
        density: `compact` rows of one line, or `roomy` ones of two where there is room.
        motion: Whether an agent something happened to stands out for a moment.
        remember: Whether the place and the filter of last time are gone back to.
        grace_seconds: Seconds in which a decision can be taken back; None for the default.
        keys: Action id -> its keys, in the place of the usual ones.
        columns: Mode -> the columns its rows have.
        sort: Mode -> what its rows are sorted by.
        filters: Name -> the query that `@name` stands for in a filter.
        commands: Commands of the user's own.
    """

    theme: str = ""
    density: str = DENSITIES[1]
    motion: bool = True
    remember: bool = True
    grace_seconds: float | None = None
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sort: Mapping[str, str] = field(default_factory=dict)
    filters: Mapping[str, str] = field(default_factory=dict)
    commands: tuple[OwnCommand, ...] = ()
    notices: Notices = field(default_factory=Notices)

    def hidden(self, mode: str) -> frozenset[str]:
        """The columns a mode has and the user does not want."""
        return frozenset(COLUMNS.get(mode, ())) - set(self.columns[mode]) if mode in self.columns else frozenset()


COLUMNS: Mapping[str, tuple[str, ...]] = {
    "needs": ("kind", "agent", "age"),
    "agents": ("agent", "kind", "age"),
    "requests": ("state", "kind", "agent", "age"),
    "deliveries": ("state", "agent", "kind", "age"),
    "sprint": ("age",),
    "history": ("time", "kind"),
}
"""The columns of each list beside its titles, which are always there."""
SORTS: Mapping[str, tuple[str, ...]] = {
    "agents": ("age", "agent", "kind"),
    "requests": ("age", "agent", "kind", "state"),
    "deliveries": ("age", "agent", "state"),
}
"""What the rows of a list can be sorted by; its own order needs no name."""
_FORMER = {"inboxes": "agents"}
"""Lists that had another name, by that name: a file that has it holds."""


# Reads `config.toml` below XDG_CONFIG_HOME and says of each mistake its line and the next step.

_LONGEST = 256 * 1024
"""Bytes of a file that somebody could have written by hand."""
_MOST_GRACE = 60.0
_QUIET = re.compile(r"([01]?\d|2[0-3]):[0-5]\d-([01]?\d|2[0-3]):[0-5]\d")
_TABLE = re.compile(r"\s*\[\s*([A-Za-z0-9_.-]+)\s*\]")


class Mistake(Struct, frozen=True):
    """A mistake in the file: its line (0 when the file as a whole is meant), what it is, the next step; safe text."""

    line: int
    message: str
    hint: str = ""


class Checked(Struct, frozen=True):
    """What a file says, and its mistakes; what is wrong holds its default."""

    preferences: Preferences
    mistakes: tuple[Mistake, ...] = ()
    exists: bool = True


_HELD = frozenset({"ctrl", "shift", "alt", "super", "meta", "hyper"})
"""Keys that are held while another is pressed."""


def config_path() -> Path:
    """`TEAM_CONSOLE_CONFIG`, else `team-console/config.toml` below XDG_CONFIG_HOME, by default `~/.config`."""
    given = os.environ.get("TEAM_CONSOLE_CONFIG")
    if given:
        return Path(given)
    base = os.environ.get("XDG_CONFIG_HOME")
    return (Path(base) if base and os.path.isabs(base) else home() / ".config") / "team-console" / "config.toml"


def load(actions: Mapping[str, tuple[str, ...]]) -> Checked:
    """The user's preferences; without a file the defaults.

    Args:
        actions: Action id -> its usual keys, to check `[keys]` against.
    """
    path = config_path()
    try:
        with path.open("rb") as file:
            data = file.read(_LONGEST + 1)
    except FileNotFoundError:
        return Checked(Preferences(), exists=False)
    except OSError as error:
        reason = safe_line(error.strerror or "it cannot be read", 100)
        return Checked(Preferences(), (Mistake(0, f"cannot be read: {reason}", "Make it readable, or remove it."),))
    if len(data) > _LONGEST:
        return Checked(Preferences(), (Mistake(0, "is larger than 256 KiB", "Keep only what you want otherwise."),))
    try:
        return check(data.decode("utf-8"), actions)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return Checked(Preferences(), (Mistake(line, "is no UTF-8 text", "Save it as UTF-8."),))


def check(text: str, actions: Mapping[str, tuple[str, ...]]) -> Checked:
    """The preferences that `text` says, and every mistake in it."""
    import tomllib

    try:
        given = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        place = re.search(r"\(at line (\d+)", str(error))
        said = safe_line(str(error).partition(" (at")[0], 200)
        return Checked(Preferences(), (Mistake(int(place[1]) if place else 0, said, "TOML wants key = value."),))
    except ValueError:  # a number of more digits than Python reads; tomllib lets it through
        return Checked(Preferences(), (Mistake(0, "holds a number of thousands of digits", "Write a smaller one."),))
    reader = _Reader(text, actions)
    preferences = reader.read(given)
    return Checked(preferences, tuple(sorted(reader.mistakes, key=lambda mistake: mistake.line)))


class _Reader:
    """Takes what is right out of a parsed file and notes what is not."""

    def __init__(self, text: str, actions: Mapping[str, tuple[str, ...]]) -> None:
        self._lines = text.splitlines()
        self._actions = actions
        self.mistakes: list[Mistake] = []

    def read(self, given: Mapping[str, Any]) -> Preferences:
        """The preferences, field by field."""
        taken: dict[str, Any] = {}
        fields: dict[str, Callable[[Any], Any]] = {
            "theme": self._theme,
            "density": self._density,
            "motion": lambda value: self._truth(value, "", "motion"),
            "remember": lambda value: self._truth(value, "", "remember"),
            "grace_seconds": self._grace,
            "keys": self._keys,
            "columns": lambda value: self._table(value, "columns", COLUMNS, self._columns),
            "sort": lambda value: self._table(value, "sort", SORTS, self._sort),
            "filters": self._filters,
            "commands": self._commands,
            "notices": self._notices,
        }
        for name, value in given.items():
            if name not in fields:
                self._unknown("", name, fields)
            elif (right := fields[name](value)) is not None:
                taken[name] = right
        return replace(Preferences(), **taken)

    def _note(self, table: str, name: str, message: str, hint: str = "") -> None:
        self.mistakes.append(Mistake(line_of(self._lines, table, name), message, hint))

    def _unknown(self, table: str, name: str, known: Mapping[str, Any] | tuple[str, ...]) -> None:
        near = get_close_matches(name, list(known), n=1)
        hint = f"Did you mean {near[0]}?" if near else f"There are {', '.join(known)}."
        where = f"[{table}] has" if table else "there is"
        self._note(table, name, f"{where} no {safe_line(name, 60)}", hint)

    def _truth(self, value: Any, table: str, name: str) -> bool | None:
        if isinstance(value, bool):
            return value
        self._note(table, name, f"{name} is true or false", "Write it without quotes.")
        return None

    def _theme(self, value: Any) -> str | None:
        from team_console.console.themes import choices, preferred_theme  # few files name one

        name = value.strip() if isinstance(value, str) else ""
        if preferred_theme(name):
            return name
        near = get_close_matches(name, list(choices()), n=1)
        hint = f"Did you mean {near[0]}?" if near else 'Such as "dark", "light", "contrast" or "terminal".'
        self._note("", "theme", f"there is no theme {safe_line(name, 60)}" if name else "theme is a name", hint)
        return None

    def _density(self, value: Any) -> str | None:
        if value in DENSITIES:
            return str(value)
        self._note("", "density", f"density is one of {', '.join(DENSITIES)}")
        return None

    def _grace(self, value: Any) -> float | None:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if is_number and 0 <= value <= _MOST_GRACE:  # not true of nan; a number of 400 digits fits in no float
            return float(value)
        self._note("", "grace_seconds", f"grace_seconds is a number from 0 to {_MOST_GRACE:.0f}", "0 writes at once.")
        return None

    def _table(
        self,
        value: Any,
        table: str,
        known: Mapping[str, tuple[str, ...]],
        read: Callable[[str, Any], Any],
    ) -> dict[str, Any] | None:
        if not isinstance(value, dict):
            self._note("", table, f"{table} is a table", f"Begin it with [{table}].")
            return None
        taken = {}
        for name, item in value.items():
            name = str(_FORMER.get(name, name))
            if name not in known:
                self._unknown(table, name, known)
            elif (right := read(name, item)) is not None:
                taken[name] = right
        return taken

    def _filters(self, value: Any) -> dict[str, str] | None:
        if not isinstance(value, dict):
            self._note("", "filters", "filters is a table", "Begin it with [filters].")
            return None
        saved = {name: query for name, query in value.items() if isinstance(query, str)}
        for name in value.keys() - saved.keys():
            self._note("filters", name, f"{safe_line(name, 60)} is a query in quotes", 'Such as "is:open from:bob".')
        for name, query in saved.items():
            try:
                parse_query(query, now=utc_now(), saved=saved)
            except TeamError as error:
                self._note("filters", name, f"{safe_line(name, 60)}: {error.message}", error.hint)
        return saved

    def _commands(self, value: Any) -> tuple[OwnCommand, ...] | None:
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            self._note("", "commands", "commands is a list of tables", "Begin each with [[commands]].")
            return None
        return tuple(filter(None, map(self._command, value)))

    def _command(self, given: Mapping[str, Any]) -> OwnCommand | None:
        wrong = next((name for name in given if name not in OwnCommand.__struct_fields__), None)
        if wrong is not None:
            self._unknown("commands", wrong, OwnCommand.__struct_fields__)
            return None
        key, run, output = given.get("key"), given.get("run"), given.get("output", OUTPUTS[0])
        label = given.get("label", "")
        taken = {each: name for name, usual in self._actions.items() for each in usual}
        if not isinstance(key, str) or not _is_key(key):
            self._note("commands", "key", "each command has a key", 'Such as key = "F" or key = "ctrl+x".')
        elif key in taken:
            self._note("commands", "key", f"{safe_line(key, 20)} is the key of {taken[key]} already", "Choose another.")
        elif not isinstance(run, str) or not run.strip() or "\0" in run:
            self._note("commands", "run", "run is a line for the shell", 'Such as run = "git log --oneline".')
        elif inside := quoted_placeholder(run):
            self._note("commands", "run", f"{inside} stands in quotes", "Write it without: it is quoted by itself.")
        elif output not in OUTPUTS:
            self._note("commands", "output", f"output is one of {', '.join(OUTPUTS)}")
        elif not isinstance(label, str):
            self._note("commands", "label", "label is a few words")
        else:
            return OwnCommand(key, run, output, label)
        return None

    def _columns(self, mode: str, value: Any) -> tuple[str, ...] | None:
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            self._note("columns", mode, f"{mode} is a list of columns", f"There are {', '.join(COLUMNS[mode])}.")
            return None
        for item in value:
            if item not in COLUMNS[mode]:
                near = get_close_matches(item, COLUMNS[mode], n=1)
                hint = f"Did you mean {near[0]}?" if near else f"There are {', '.join(COLUMNS[mode])}."
                self._note("columns", mode, f"{mode} has no column {safe_line(item, 60)}", hint)
        return tuple(item for item in value if item in COLUMNS[mode])

    def _sort(self, mode: str, value: Any) -> str | None:
        if value in SORTS[mode]:
            return str(value)
        self._note("sort", mode, f"{mode} is sorted by one of {', '.join(SORTS[mode])}")
        return None

    def _keys(self, value: Any) -> dict[str, tuple[str, ...]] | None:
        taken: dict[str, tuple[str, ...]] | None = self._table(value, "keys", self._actions, self._keys_of)
        if taken is None:
            return None
        return {name: keys for name, keys in taken.items() if not self._clash(name, taken)}

    def _keys_of(self, name: str, value: Any) -> tuple[str, ...] | None:
        keys = [value] if isinstance(value, str) else value
        if isinstance(keys, list) and keys and all(isinstance(key, str) and _is_key(key) for key in keys):
            return tuple(keys)
        hint = 'Such as "a", "ctrl+x", "f5" or ["a", "f5"].'
        self._note("keys", name, f"{name} is a key or a list of keys", hint)
        return None

    def _clash(self, name: str, taken: Mapping[str, tuple[str, ...]]) -> bool:
        """Whether a key of `name` does something else already; noted then."""
        for other, usual in self._actions.items():
            shared = set(taken[name]) & set(taken.get(other, usual))
            if other != name and shared - set(self._actions[name]):
                self._note("keys", name, f"{sorted(shared)[0]} is the key of {other} already", "Give that another key.")
                return True
        return False

    def _notices(self, value: Any) -> Notices | None:
        if not isinstance(value, dict):
            self._note("", "notices", "notices is a table", "Begin it with [notices].")
            return None
        taken: dict[str, Any] = {}
        for name, item in value.items():
            if name in NOTICE_FLAGS:
                right: Any = self._truth(item, "notices", name)
            elif name == "command":
                right = self._texts(item, name, "is a list of a program and its arguments", 'Such as ["notify-send"].')
            elif name == "quiet":
                right = self._quiet(item)
            else:
                self._unknown("notices", name, Notices.__struct_fields__)
                continue
            if right is not None:
                taken[name] = right
        return Notices(**taken)

    def _texts(self, value: Any, name: str, words: str, hint: str) -> tuple[str, ...] | None:
        if isinstance(value, list) and all(isinstance(item, str) and item and "\0" not in item for item in value):
            return tuple(value)
        self._note("notices", name, f"{name} {words}", hint)
        return None

    def _quiet(self, value: Any) -> tuple[str, ...] | None:
        spans = [value] if isinstance(value, str) else value
        if isinstance(spans, list) and all(isinstance(span, str) and _QUIET.fullmatch(span) for span in spans):
            return tuple(spans)
        self._note("notices", "quiet", "quiet is a list of spans of the day", 'Such as ["22:00-07:00"].')
        return None


def _is_key(key: str) -> bool:
    """Whether it can be a key as Textual names them: one character, or a name such as `ctrl+x` or `f5`."""
    from textual.keys import Keys, key_to_character  # few files name one

    *held, name = key.split("+") if len(key) > 1 else [key]
    names = {item for known in Keys for item in known.value.split("+")}
    is_named = name in names or (name.islower() and key_to_character(name) is not None)
    return _HELD.issuperset(held) and ((len(name) == 1 and name.isprintable()) or is_named)


def line_of(lines: list[str], table: str, name: str) -> int:
    """The line on which `name` of `table` stands, from 1; 0 when it cannot be told."""
    present, begin = "", re.compile(rf"\s*[\"']?{re.escape(name)}[\"']?\s*[=.]")
    for number, line in _numbered(lines):
        if match := _TABLE.match(line):
            present = match[1]
            if present in (name, f"{table}.{name}"):
                return number
        elif present == table and begin.match(line):
            return number
    return 0


def _numbered(lines: list[str]) -> Iterator[tuple[int, str]]:
    return ((number, line) for number, line in enumerate(lines, start=1) if not line.lstrip().startswith("#"))


# Preferences as a file: those that hold now, with what each is for.


def as_toml(preferences: Preferences, actions: Mapping[str, tuple[str, ...]]) -> str:
    """A whole `config.toml` that says what holds now; what the user did not choose stands in comments."""
    return "\n".join(_lines(preferences, actions)) + "\n"


def _lines(preferences: Preferences, actions: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    theme = preferences.theme
    yield (
        f"theme = {text_of(theme)}"
        if theme
        else '# theme = "dark"    # light, contrast, terminal; else that of last time'
    )
    yield f"density = {text_of(preferences.density)}    # compact or roomy"
    yield f"motion = {text_of(preferences.motion)}"
    yield f"remember = {text_of(preferences.remember)}    # go back to the place and filter of last time"
    grace = preferences.grace_seconds
    yield f"grace_seconds = {grace:g}" if grace is not None else "# grace_seconds = 5    # 0 writes at once"
    yield from ("", "[notices]    # of new decisions")
    notices = preferences.notices
    for name in NOTICE_FLAGS:
        yield f"{name} = {text_of(getattr(notices, name))}"
    yield f"command = {text_of(notices.command)}"
    yield f"quiet = {text_of(notices.quiet)}"
    yield from ("", "[columns]")
    for mode, columns in COLUMNS.items():
        chosen = preferences.columns.get(mode)
        yield f"{mode} = {text_of(chosen)}" if chosen is not None else f"# {mode} = {text_of(columns)}"
    yield from ("", "[sort]")
    for mode, sorts in SORTS.items():
        chosen_sort = preferences.sort.get(mode)
        yield (
            f"{mode} = {text_of(chosen_sort)}"
            if chosen_sort
            else f"# {mode} = {text_of(sorts[0])}    # {', '.join(sorts)}"
        )
    yield from ("", "[filters]    # a query under a name: /@late then asks for it")
    yield from [f"{name} = {text_of(query)}" for name, query in preferences.filters.items()] or (
        '# late = "is:open is:late -from:architect"',
    )
    yield from ("", "# A command of your own on a key; {id} {agent} {file} {text} become quoted words of the shell.")
    for command in preferences.commands:
        yield "[[commands]]"
        yield from (f"{name} = {text_of(getattr(command, name))}" for name in OwnCommand.__struct_fields__)
    if not preferences.commands:
        yield from (
            "# [[commands]]",
            '# key = "F"',
            '# run = "wc -w {file}"',
            '# output = "pager"    # ' + ", ".join(OUTPUTS),
        )
    yield from ("", "[keys]")
    for name, keys in actions.items():
        own = preferences.keys.get(name)
        yield f"{name} = {text_of(own)}" if own else f"# {name} = {text_of(keys)}"


def text_of(value: Any) -> str:
    """A value as TOML writes it: text, a truth, a number, or a list of texts."""
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)
