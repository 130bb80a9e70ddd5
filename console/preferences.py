"""Preferences of one user: keys, look, sorting, notices; every field has the default that holds without a file."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct, ValidationError, convert, field
from msgspec.structs import asdict, replace
from team_console.store.model.clock import utc_now
from team_console.store.model.errors import TeamError
from team_console.store.model.home import home
from team_console.store.model.names import guess
from team_console.store.model.safe import safe_line
from team_console.store.views.search import parse_query

DENSITIES = ("compact", "roomy")
UNDO_DELAY, _LONGEST_UNDO_DELAY = 5.0, 60.0
"""Seconds that a verdict, a message or a `done` waits before it is written, and at most: an agent waits for it."""


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
_NOT_WITHIN = frozenset(("`", "arithmetic_expansion", "subscript"))
"""Where the shell reads a word once more, as code or as a number."""


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
        """The command's name: its label, else its line."""
        return safe_line(self.label or self.run, 60)

    @property
    def placeholders(self) -> tuple[str, ...]:
        """The names of those that it has."""
        return tuple(dict.fromkeys(PLACEHOLDERS.findall(self.run)))


def shell_line(run: str) -> str:
    """Return a command with a variable of the shell, in quotes, in the place of each placeholder."""
    return PLACEHOLDERS.sub(r'"${team_console_\1}"', run)


def misplaced(run: str) -> tuple[str, str]:
    """Return the first placeholder that the shell would not take for one word, and why; empty for none."""
    # 5 ms: only who has commands of his own pays for it.
    from team_console.console.clients.shell_tree import parse

    if PLACEHOLDERS.search(run) is None:
        return "", ""
    root = parse(shell_line(run).encode()).root_node
    added = 0
    for found in PLACEHOLDERS.finditer(run):
        start = len(run[: found.start()].encode()) + added
        written = len(shell_line(found[0]))
        node = root.descendant_for_byte_range(start, start + written)
        around = node.parent if node is not None else None
        is_whole = node is not None and (node.start_byte, node.end_byte) == (start, start + written)
        is_text = node is not None and node.type in ("comment", "heredoc_body")
        kinds = set[str]()
        while around is not None:
            is_old = around.type == "command_substitution" and around.children[0].type.strip() == "`"
            kinds.add("`" if is_old else around.type)
            around = around.parent
        added += written - len(found[0].encode())
        # guard: own-command-placeholder-whole
        if not is_text and (not is_whole or node is None or node.type != "string" or kinds & _NOT_WITHIN):
            return found[0], "stands in quotes, behind a backslash, or where the shell takes it for more than a word"
    return ("", "") if not root.has_error else (next(PLACEHOLDERS.finditer(run))[0], "is in a line that cannot be read")


class Preferences(Struct, frozen=True):
    """All a user may choose.

    Attributes:
        theme: The theme to begin with; empty for that of last time.
        density: `compact` rows of one line, or `roomy` ones of two where there is room.
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
    remember: bool = True
    grace_seconds: float | None = None
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sort: Mapping[str, str] = field(default_factory=dict)
    filters: Mapping[str, str] = field(default_factory=dict)
    commands: tuple[OwnCommand, ...] = ()
    notices: Notices = field(default_factory=Notices)

    @property
    def undo_delay(self) -> float:
        """Seconds between deciding and writing: of the environment, else those chosen, else the default."""
        chosen = UNDO_DELAY if self.grace_seconds is None else self.grace_seconds
        with suppress(ValueError):
            given = float(os.environ.get("TEAM_CONSOLE_GRACE", ""))
            chosen = given if isfinite(given) else chosen
        return min(max(chosen, 0.0), _LONGEST_UNDO_DELAY)

    def hidden(self, mode: str) -> frozenset[str]:
        """Return the columns a mode has and the user does not want."""
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
    """Return the user's preferences; without a file the defaults.

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


class _WrongError(ValueError):
    """A value that cannot hold: what is wrong with it, and perhaps the next step."""


Check = Callable[[Any], Any]
"""Takes a value of the file and returns it as it holds; raises `_WrongError`."""


def check(text: str, actions: Mapping[str, tuple[str, ...]]) -> Checked:
    """Return the preferences that `text` says, and every mistake in it."""
    try:
        given = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        place = re.search(r"\(at line (\d+)", str(error))
        said = safe_line(str(error).partition(" (at")[0], 200)
        return Checked(Preferences(), (Mistake(int(place[1]) if place else 0, said, "TOML wants key = value."),))
    except ValueError:  # a number of more digits than Python reads; tomllib lets it through
        return Checked(Preferences(), (Mistake(0, "holds a number of thousands of digits", "Write a smaller one."),))
    given.pop("motion", None)  # in files of 0.5.0, where things moved
    lines, mistakes = text.splitlines(), list[Mistake]()

    def take(table: str, checks: Mapping[str, Check], values: Any) -> dict[str, Any]:
        """Return the valid settings of a table; invalid ones are added to the mistakes."""
        taken = {}
        if not isinstance(values, dict):
            raise _WrongError(f"{table} is a table", f"Begin it with [{table}].")
        for name, value in values.items():
            known = str(name if name in checks else _FORMER.get(name, name))
            try:
                if known not in checks:
                    where = f"[{table}] has" if table else "there is"
                    raise _WrongError(f"{where} no {safe_line(known, 60)}", _near(known, checks))
                taken[known] = checks[known](value)
            except _WrongError as wrong:
                mistakes.append(Mistake(line_of(lines, table, name), *wrong.args))
        return taken

    def keys(values: Any) -> Mapping[str, tuple[str, ...]]:
        taken = take("keys", {name: partial(_keys_of, name) for name in actions}, values)

        def of_no_other(name: str, own: tuple[str, ...]) -> tuple[str, ...]:
            for other, usual in actions.items():
                shared = set(own) & set(taken.get(other, usual))
                if other != name and shared - set(actions[name]):
                    what = f"{sorted(shared)[0]} is the key of {other} already"
                    raise _WrongError(what, "Give that another key.")
            return own

        return take("keys", {name: partial(of_no_other, name) for name in taken}, taken)

    def command(values: dict[str, Any]) -> OwnCommand | None:
        taken = take("commands", _command_checks(actions), {"key": None, "run": None, **values})
        return OwnCommand(**taken) if taken.keys() == {"key", "run", *values} else None

    def commands(values: Any) -> tuple[OwnCommand, ...]:
        of_tables = _of(list[dict[str, Any]], "commands is a list of tables", "Begin each with [[commands]].")
        return tuple(filter(None, map(command, of_tables(values))))

    def filters(values: Any) -> Mapping[str, str]:
        given = values if isinstance(values, dict) else {}
        saved = {name: query for name, query in given.items() if isinstance(query, str)}
        return take("filters", {name: partial(_query, saved, name) for name in given}, values)

    fields: Mapping[str, Check] = {
        "theme": _theme,
        "density": _one_of("density is", DENSITIES),
        "remember": _flag("remember"),
        "grace_seconds": _of(
            Annotated[float, Meta(ge=0, le=_LONGEST_UNDO_DELAY)],
            f"grace_seconds is a number from 0 to {_LONGEST_UNDO_DELAY:.0f}",
            "0 writes at once.",
        ),
        "keys": keys,
        "columns": partial(take, "columns", {mode: partial(_columns_of, mode) for mode in COLUMNS}),
        "sort": partial(take, "sort", {mode: _one_of(f"{mode} is sorted by", SORTS[mode]) for mode in SORTS}),
        "filters": filters,
        "commands": commands,
        "notices": lambda values: Notices(**take("notices", _NOTICES, values)),
    }
    preferences = replace(Preferences(), **take("", fields, given))
    return Checked(preferences, tuple(sorted(mistakes, key=lambda mistake: mistake.line)))


def _near(name: str, known: Iterable[str], hint: str = "") -> str:
    return guess(name, known, hint or f"There are {', '.join(known)}.")


def _of(kind: Any, message: str, hint: str = "") -> Check:
    """Takes a value of that type."""

    def check(value: Any) -> Any:
        try:
            return convert(value, kind)
        except ValidationError:
            raise _WrongError(message, hint) from None

    return check


def _flag(name: str) -> Check:
    return _of(bool, f"{name} is true or false", "Write it without quotes.")


def _one_of(what: str, values: tuple[str, ...]) -> Check:
    def check(value: Any) -> Any:
        if value not in values:
            raise _WrongError(f"{what} one of {', '.join(values)}")
        return value

    return check


def _theme(value: Any) -> str:
    from team_console.console.tui.themes import choices, theme_called  # few files name one

    name = value.strip() if isinstance(value, str) else ""
    if name and theme_called(name):
        return name
    what = f"there is no theme {safe_line(name, 60)}" if name else "theme is a name"
    raise _WrongError(what, _near(name, choices(), 'Such as "dark", "light", "contrast" or "terminal".'))


def _columns_of(mode: str, value: Any) -> tuple[str, ...]:
    known = COLUMNS[mode]
    names: tuple[str, ...] = _of(tuple[str, ...], f"{mode} is a list of columns", _near("", known))(value)
    for name in names:
        if name not in known:
            raise _WrongError(f"{mode} has no column {safe_line(name, 60)}", _near(name, known))
    return names


def _query(saved: Mapping[str, str], name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise _WrongError(f"{safe_line(name, 60)} is a query in quotes", 'Such as "is:open from:bob".')
    try:
        parse_query(value, now=utc_now(), saved=saved)
    except TeamError as error:
        raise _WrongError(f"{safe_line(name, 60)}: {error.message}", error.hint) from None
    return value


def _keys_of(name: str, value: Any) -> tuple[str, ...]:
    keys = [value] if isinstance(value, str) else value
    if isinstance(keys, list) and keys and all(isinstance(key, str) and _is_key(key) for key in keys):
        return tuple(keys)
    raise _WrongError(f"{name} is a key or a list of keys", 'Such as "a", "ctrl+x", "f5" or ["a", "f5"].')


def _command_checks(actions: Mapping[str, tuple[str, ...]]) -> Mapping[str, Check]:
    taken = {each: name for name, usual in actions.items() for each in usual}

    def key(value: Any) -> str:
        if not isinstance(value, str) or not _is_key(value):
            raise _WrongError("each command has a key", 'Such as key = "F" or key = "ctrl+x".')
        if value in taken:
            raise _WrongError(f"{safe_line(value, 20)} is the key of {taken[value]} already", "Choose another.")
        return value

    def run(value: Any) -> str:
        if not isinstance(value, str) or not value.strip() or "\0" in value:
            raise _WrongError("run is a line for the shell", 'Such as run = "git log --oneline".')
        placeholder, why = misplaced(value)
        if placeholder:
            place = value.index(placeholder) + 1
            raise _WrongError(f"{placeholder} {why} (column {place})", "Write it without: it is quoted by itself.")
        return value

    return {
        "key": key,
        "run": run,
        "output": _one_of("output is", OUTPUTS),
        "label": _of(str, "label is a few words"),
    }


_SPANS = _of(
    tuple[Annotated[str, Meta(pattern=r"^([01]?\d|2[0-3]):[0-5]\d-([01]?\d|2[0-3]):[0-5]\d\Z")], ...],
    "quiet is a list of spans of the day",
    'Such as ["22:00-07:00"].',
)
_NOTICES: Mapping[str, Check] = {
    **{name: _flag(name) for name in NOTICE_FLAGS},
    "command": _of(
        tuple[Annotated[str, Meta(pattern=r"^[^\0]+\Z")], ...],
        "command is a list of a program and its arguments",
        'Such as ["notify-send"].',
    ),
    "quiet": lambda value: _SPANS([value] if isinstance(value, str) else value),
}


def _is_key(key: str) -> bool:
    """Return whether it can be a key as Textual names them: one character, or a name such as `ctrl+x` or `f5`."""
    from textual.keys import Keys, key_to_character  # few files name one

    *held, name = key.split("+") if len(key) > 1 else [key]
    names = {item for known in Keys for item in known.value.split("+")}
    is_named = name in names or (name.islower() and key_to_character(name) is not None)
    return _HELD.issuperset(held) and ((len(name) == 1 and name.isprintable()) or is_named)


def line_of(lines: list[str], table: str, name: str) -> int:
    """Return the line on which `name` of `table` stands, from 1; 0 when it cannot be told."""
    present, begin = "", re.compile(rf"\s*[\"']?{re.escape(name)}[\"']?\s*[=.]")
    for number, line in enumerate(lines, start=1):
        if match := _TABLE.match(line):
            present = match[1]
            if present in (name, f"{table}.{name}"):
                return number
        elif present == table and begin.match(line):
            return number
    return 0


# Preferences as a file: those that hold now, with what each is for.


def as_toml(preferences: Preferences, actions: Mapping[str, tuple[str, ...]]) -> str:
    """Return a whole `config.toml` that says what holds now; what the user did not choose stands in comments."""

    def line(name: str, value: Any, usual: Any = None, note: str = "") -> str:
        chosen = f"{name} = {text_of(value)}" if value is not None else f"# {name} = {text_of(usual)}"
        return f"{chosen}    # {note}" if note and value is None else chosen

    def part(values: Mapping[str, Any], usual: Mapping[str, Any] | None = None) -> str:
        made = (line(name, values.get(name), usually) for name, usually in (usual or values).items())
        return "\n".join(made)

    theme = line("theme", preferences.theme or None, "dark", "light, contrast, terminal; else that of last time")
    seconds = preferences.grace_seconds
    grace = line(
        "grace_seconds",
        seconds if seconds is None or seconds % 1 else int(seconds),
        int(UNDO_DELAY),
        "0 writes at once",
    )
    sort = "\n".join(line(mode, preferences.sort.get(mode), each[0], ", ".join(each)) for mode, each in SORTS.items())
    commands = "\n".join(f"[[commands]]\n{part(asdict(one))}" for one in preferences.commands)
    return f"""\
{theme}
density = {text_of(preferences.density)}    # compact or roomy
remember = {text_of(preferences.remember)}    # go back to the place and filter of last time
{grace}

[notices]    # of new decisions
{part(asdict(preferences.notices))}

[columns]
{part(preferences.columns, COLUMNS)}

[sort]
{sort}

[filters]    # a query under a name: /@late then asks for it
{part(preferences.filters) or _FILTER}

# A command of your own on a key; {{id}} {{agent}} {{file}} {{text}} become quoted words of the shell.
{commands or _COMMAND}

[keys]
{part(preferences.keys, actions)}
"""


_FILTER = '# late = "is:open is:late -from:architect"'
_COMMAND = """# [[commands]]
# key = "F"
# run = "wc -w {file}"
# output = "pager"    # pager, toast, terminal, none"""


def text_of(value: Any) -> str:
    """Return a value as TOML writes it: text, a truth, a number, or a list of texts."""
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)
