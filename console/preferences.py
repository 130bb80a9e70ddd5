"""Preferences of one user in `config.toml`: each with its kind of value, its default and its meaning in one place."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct, ValidationError, convert, field
from msgspec.structs import FieldInfo, fields
from team_console.console.actions import FIXED_KEYS, usual_keys
from team_console.store.model.clock import utc_now
from team_console.store.model.errors import TeamError
from team_console.store.model.home import home
from team_console.store.model.names import hint_with_nearest
from team_console.store.model.safe import safe_line
from team_console.store.views.search import parse_query

if TYPE_CHECKING:
    from tree_sitter import Node

_LONGEST_UNDO_DELAY = 60.0
"""Seconds that a decision waits at most before it is written: an agent waits for it."""


def _is(meaning: str, *examples: Any, **limits: Any) -> Meta:
    """Return what a setting means, with values that it may have."""
    return Meta(description=meaning, examples=list(examples) or None, **limits)


PLACEHOLDERS = re.compile(r"\{(id|agent|file|text)\}")
_READ_ONCE_MORE = frozenset(("arithmetic_expansion", "subscript"))
"""Parts of a line in which the shell reads a word once more, as a number; in backticks it reads it as code."""


class OwnCommand(Struct, frozen=True, forbid_unknown_fields=True):
    """A command of the user's own, on a key."""

    key: Annotated[str, _is("the key that runs a command of your own", "F", "ctrl+x")]
    run: Annotated[str, _is("a line for the shell; {id} {agent} {file} {text} become quoted words", "wc -w {file}")]
    output: Annotated[
        Literal["pager", "toast", "terminal", "none"],
        _is("where its output goes; with `terminal` the command has the terminal while it runs"),
    ] = "pager"
    label: Annotated[str, _is("what `?` and `:` call it", "count words")] = ""

    @property
    def name(self) -> str:
        """The command's name: its label, else its line."""
        return safe_line(self.label or self.run, 60)

    @property
    def placeholders(self) -> tuple[str, ...]:
        """The names of those that it has."""
        return tuple(dict.fromkeys(PLACEHOLDERS.findall(self.run)))


def command_for_shell(run: str) -> str:
    """Return a command with a variable of the shell, in quotes, in the place of each placeholder."""
    return PLACEHOLDERS.sub(r'"${team_console_\1}"', run)


def misplaced_placeholder(run: str) -> tuple[str, str] | None:
    """Return the first placeholder that the shell would not take for one word, and why; None for none."""
    # 5 ms: only who has commands of his own pays for it.
    from team_console.console.clients.shell_tree import parse

    found = list(PLACEHOLDERS.finditer(run))
    if not found:
        return None
    root = parse(command_for_shell(run).encode()).root_node
    for one in found:
        start = len(command_for_shell(run[: one.start()]).encode())
        # guard: own-command-placeholder-whole
        if not _is_one_word(root, start, start + len(command_for_shell(one[0]))):
            return one[0], "stands in quotes, behind a backslash, or where the shell takes it for more than a word"
    return (found[0][0], "is in a line that cannot be read") if root.has_error else None


def _is_one_word(root: Node, start: int, end: int) -> bool:
    """Return whether the bytes from `start` to `end` are a whole string that the shell reads once, or stand in text
    that is never read as a command.
    """
    node = root.descendant_for_byte_range(start, end)
    if node is not None and node.type in ("comment", "heredoc_body"):
        return True
    if node is None or node.type != "string" or (node.start_byte, node.end_byte) != (start, end):
        return False
    around = node.parent
    while around is not None:
        is_in_backticks = around.type == "command_substitution" and around.children[0].type.strip() == "`"
        if is_in_backticks or around.type in _READ_ONCE_MORE:
            return False
        around = around.parent
    return True


class Sort(Struct, frozen=True, forbid_unknown_fields=True):
    """What the rows of each list are sorted by; empty for its own order."""

    agents: Annotated[Literal["", "age", "agent", "kind"], _is("what Agents is sorted by")] = ""
    requests: Annotated[Literal["", "age", "agent", "kind", "state"], _is("what All requests is sorted by")] = ""
    deliveries: Annotated[Literal["", "age", "agent", "state"], _is("what Deliveries is sorted by")] = ""


class Preferences(Struct, frozen=True, forbid_unknown_fields=True):
    """All that a user may choose; the default of each holds without a file."""

    theme: Annotated[
        str, _is("the theme to start with; without it the one used last", "dark", "light", "contrast", "terminal")
    ] = ""
    density: Annotated[Literal["compact", "roomy"], _is("rows of one line, or of two where there is room")] = "roomy"
    grace_seconds: Annotated[
        float,
        _is("seconds in which a decision can be taken back; 0 writes at once", ge=0, le=_LONGEST_UNDO_DELAY),
    ] = 5.0
    notify: Annotated[
        Literal["title", "bell", "none"],
        _is("how you are told that decisions wait: their number in the terminal's title, the bell as well, or nothing"),
    ] = "title"
    notify_command: Annotated[
        tuple[str, ...],
        _is(
            "a program and its arguments, run for new decisions; a sentence about them is added as the last argument",
            ["notify-send"],
        ),
    ] = ()
    sort: Sort = field(default_factory=Sort)
    filters: Annotated[
        Mapping[str, str], _is("what @NAME stands for in a filter: `/`, and `--find`", {"late": "is:open is:late"})
    ] = field(default_factory=dict)
    commands: tuple[OwnCommand, ...] = ()
    keys: Annotated[
        Mapping[str, tuple[str, ...]],
        _is("a key of an action, or a list of keys, in place of the usual ones", {"help": ["f1"]}),
    ] = field(default_factory=dict)

    @property
    def undo_delay(self) -> float:
        """Seconds between deciding and writing: of the environment, else those chosen."""
        given = _seconds_in(os.environ.get(_GRACE, ""))
        return min(max(self.grace_seconds if given is None else given, 0.0), _LONGEST_UNDO_DELAY)


_GRACE = "TEAM_CONSOLE_GRACE"


def _seconds_in(text: str) -> float | None:
    """Return a number of seconds; None for any other text."""
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if isfinite(seconds) else None


def wrong_environment(preferences: Preferences) -> str:
    """Return what is wrong with the seconds that the environment names, and which hold; empty where nothing is."""
    given, holds = os.environ.get(_GRACE, ""), preferences.undo_delay
    if not given or _seconds_in(given) == holds:
        return ""
    wanted = f"a number from 0 to {_LONGEST_UNDO_DELAY:g}"
    return f"{_GRACE} is {wanted}, not {safe_line(given, 40)}; {holds:g} seconds hold"


_FORMER_SETTINGS = {
    "columns": "Take it out.",
    "motion": "Take it out.",
    "notices": 'Take it out, and write notify = "title", "bell" or "none".',
    "remember": "Take it out: the console opens on Needs you.",
}
"""Settings of earlier versions, with the next step."""


# The kinds of values in words, from the types above: for the reference, the file to start from, and mistakes.


def properties_of(kind: type[Struct]) -> Mapping[str, Mapping[str, Any]]:
    """Return the JSON Schema of each setting of a table, by its name."""
    found: Mapping[str, Mapping[str, Any]] = msgspec.json.schema(kind)["$defs"][kind.__name__]["properties"]
    return found


def words_of(shape: Mapping[str, Any]) -> str:
    """Return the values that a JSON Schema allows, in words."""
    if "enum" in shape:
        return "one of " + ", ".join(filter(None, shape["enum"]))
    if shape["type"] == "number":
        return f"a number from {shape['minimum']:g} to {shape['maximum']:g}"
    return {"array": "a list of texts", "object": "a table"}.get(shape["type"], "a text")


def examples_in(shape: Mapping[str, Any]) -> str:
    """Return `, such as` and the examples of a JSON Schema; empty for none."""
    examples = " or ".join(map(toml_text, shape.get("examples", ())))
    return f", such as {examples}" if examples else ""


def default_in(shape: Mapping[str, Any]) -> str:
    """Return the default of a JSON Schema, in words."""
    default = shape.get("default")
    return f"{default:g}" if isinstance(default, float) else str(default or "none")


def every_preference() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the path of each setting with its JSON Schema; names that are free are written in capitals."""
    tables: Mapping[str, type[Struct]] = {"sort": Sort, "commands": OwnCommand}
    for name, shape in properties_of(Preferences).items():
        if name in tables:
            yield from ((f"{name}.{inner}", one) for inner, one in properties_of(tables[name]).items())
        elif shape.get("type") == "object":
            yield f"{name}.NAME", {"description": shape["description"], **shape["additionalProperties"]}
        else:
            yield name, shape


# Reads `config.toml` and says of each mistake its line and the next step.

_LONGEST = 256 * 1024
"""Bytes of a file that somebody could have written by hand."""
_HEADING = re.compile(r"\s*\[+\s*([A-Za-z0-9_.-]+)\s*\]")


class Mistake(Struct, frozen=True):
    """A mistake in the file: its line (0 when the file as a whole is meant), what it is, the next step; safe text."""

    line: int
    message: str
    hint: str = ""


def mistakes_in_words(mistakes: Sequence[Mistake]) -> str:
    """Return the first mistake with its line, and how many more there are."""
    first, more = mistakes[0], len(mistakes) - 1
    others = f", {more} more" if more else ""
    listed = f"team-console config check lists all{others}."
    return f"config.toml:{first.line}: {first.message}. {first.hint}\n{listed}"


class Checked(Struct, frozen=True):
    """What a file says, and its mistakes; what is wrong holds its default."""

    preferences: Preferences
    mistakes: tuple[Mistake, ...] = ()
    exists: bool = True


_MODIFIERS = frozenset({"ctrl", "shift", "alt", "super", "meta", "hyper"})
"""Keys that are held while another is pressed."""


def config_path() -> Path:
    """`TEAM_CONSOLE_CONFIG`, else `team-console/config.toml` below XDG_CONFIG_HOME, by default `~/.config`."""
    given = os.environ.get("TEAM_CONSOLE_CONFIG")
    if given:
        return Path(given)
    base = os.environ.get("XDG_CONFIG_HOME")
    return (Path(base) if base and os.path.isabs(base) else home() / ".config") / "team-console" / "config.toml"


def load_preferences() -> Checked:
    """Return the user's preferences; without a file the defaults."""
    path = config_path()
    try:
        with path.open("rb") as file:
            data = file.read(_LONGEST + 1)
    except FileNotFoundError:
        return Checked(Preferences(), exists=False)
    except OSError as error:
        reason = safe_line(error.strerror or "it cannot be read", 100)
        return _unreadable(0, f"cannot be read: {reason}", "Make it readable, or remove it.")
    if len(data) > _LONGEST:
        return _unreadable(0, "is larger than 256 KiB", "Keep only what you want otherwise.")
    try:
        return check(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return _unreadable(line, "is no UTF-8 text", "Save it as UTF-8.")


def _unreadable(line: int, message: str, hint: str) -> Checked:
    """Return the defaults, and the mistake for which nothing of the file holds."""
    return Checked(Preferences(), (Mistake(line, message, hint),))


class _WrongError(ValueError):
    """A value that cannot hold: what is wrong with it, and perhaps the next step."""


Check = Callable[[Any], Any]
"""Takes a value of the file and returns it as it holds; raises `_WrongError`."""


def check(text: str) -> Checked:
    """Return the preferences that `text` says, and every mistake in it."""
    try:
        given = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        place = re.search(r"\(at line (\d+)", str(error))
        message = safe_line(str(error).partition(" (at")[0], 200)
        return _unreadable(int(place[1]) if place else 0, message, "TOML wants key = value.")
    except ValueError:  # a number of more digits than Python reads; tomllib lets it through
        return _unreadable(0, "holds a number of thousands of digits", "Write a smaller one.")
    reading = _FileReading(text, given)
    preferences = Preferences(**reading.table("", reading.checks(), given))
    return Checked(preferences, tuple(sorted(reading.mistakes, key=lambda mistake: mistake.line)))


class _FileReading:
    """One reading of a file: what is right in it holds, whatever is wrong beside it.

    Attributes:
        mistakes: Those found so far.
    """

    def __init__(self, text: str, given: Mapping[str, Any]) -> None:
        self._lines, self._usual = text.splitlines(), usual_keys()
        self._taken = _keys_in_force(self._usual, given.get("keys"))
        self.mistakes: list[Mistake] = []

    def checks(self) -> Mapping[str, Check]:
        """Return what each setting is checked by: the type of its field, and for some of them more."""
        return {
            **_checks_of_types(Preferences),
            "theme": _valid_theme,
            "sort": lambda values: Sort(**self.table("sort", _checks_of_types(Sort), values)),
            "filters": self._valid_filters,
            "commands": self._valid_commands,
            "keys": self._valid_key_table,
        }

    def table(self, table: str, checks: Mapping[str, Check], values: Any, number: int = 1) -> dict[str, Any]:
        """Return the valid settings of a table, the one with this number; invalid ones are added to the mistakes."""
        taken = {}
        if not isinstance(values, dict):
            raise _WrongError(f"{table} is a table", f"Begin it with [{table}].")
        for name, value in values.items():
            try:
                if name in checks:
                    taken[name] = checks[name](value)
                elif not table and name in _FORMER_SETTINGS:
                    raise _WrongError(f"{name} is no longer a setting", _FORMER_SETTINGS[name])
                else:
                    where = f"[{table}] has" if table else "there is"
                    known = f"There are {', '.join(checks)}."
                    raise _WrongError(f"{where} no {safe_line(name, 60)}", hint_with_nearest(name, checks, known))
            except _WrongError as wrong:
                self.mistakes.append(Mistake(line_number_of(self._lines, table, name, number), *wrong.args))
        return taken

    def _valid_filters(self, values: Any) -> Mapping[str, str]:
        """Return the queries that can be asked for by their names; they may name each other."""
        given = values if isinstance(values, dict) else {}
        saved = {name: query for name, query in given.items() if isinstance(query, str)}
        return self.table("filters", {name: partial(_valid_query, saved, name) for name in given}, values)

    def _valid_commands(self, values: Any) -> tuple[OwnCommand, ...]:
        """Return the commands of which nothing is wrong or missing."""
        if not isinstance(values, list) or not all(isinstance(one, dict) for one in values):
            raise _WrongError("commands is a list of tables", "Begin each with [[commands]].")
        checks = {**_checks_of_types(OwnCommand), "key": self._valid_key_of_command, "run": _valid_shell_line}
        whole = []
        for number, one in enumerate(values, start=1):
            given = {"key": None, "run": None, **one}  # both are needed: None is a mistake where one is missing
            taken = self.table("commands", checks, given, number)
            if taken.keys() == given.keys():
                whole.append(OwnCommand(**taken))
        return tuple(whole)

    def _valid_key_of_command(self, value: Any) -> str:
        """Return a key that no action and no earlier command has."""
        if not isinstance(value, str) or not _is_key(value):
            raise _WrongError("each command has a key", 'Such as key = "F" or key = "ctrl+x".')
        if value in FIXED_KEYS:
            raise _WrongError(f"{value} is the key that {FIXED_KEYS[value]}", "Choose another.")
        if value in self._taken:
            raise _WrongError(f"{safe_line(value, 20)} is the key of {self._taken[value]} already", "Choose another.")
        self._taken[value] = "another command"
        return value

    def _valid_key_table(self, values: Any) -> Mapping[str, tuple[str, ...]]:
        """Return the keys of actions that are keys, and that no other action has or is given here."""
        taken = self.table("keys", {name: partial(_valid_keys, name) for name in self._usual}, values)

        def of_no_other(name: str, own: tuple[str, ...]) -> tuple[str, ...]:
            for other, usual in self._usual.items():
                shared = set(own) & set(taken.get(other, usual))
                # A usual key of its own is no mistake here: the other has it in another mode, or was given it, which is
                # the other's mistake.
                if other != name and shared - set(self._usual[name]):
                    what = f"{sorted(shared)[0]} is the key of {other} already"
                    raise _WrongError(what, "Give that another key.")
            return own

        return self.table("keys", {name: partial(of_no_other, name) for name in taken}, taken)


def _checks_of_types(kind: type[Struct]) -> dict[str, Check]:
    """Return for each field of a table what takes a value of its type."""
    return {one.name: partial(_valid_of_type, kind, one) for one in fields(kind)}


def _valid_of_type(kind: type[Struct], one: FieldInfo, value: Any) -> Any:
    """Return a value as the type of its field says."""
    try:
        return convert(value, one.type)
    except ValidationError:
        shape = properties_of(kind)[one.name]
        hint = f"It is {shape['description']}{examples_in(shape)}."
        raise _WrongError(f"{one.name} is {words_of(shape)}", hint) from None


OUR_THEMES = {"dark": "harbour", "light": "paper", "contrast": "contrast"}
"""Themes of this console: what people call each, and what Textual does."""


def theme_names() -> Mapping[str, str]:
    """Return the name of every theme as people call it, and as Textual does; ours first."""
    from textual.theme import BUILTIN_THEMES  # 100 ms: few files name a theme

    terminal = {"terminal": "ansi-dark", "terminal, light": "ansi-light"}
    others = {name: name for name in sorted(BUILTIN_THEMES) if name not in terminal.values()}
    return OUR_THEMES | terminal | others


def theme_called(name: str) -> str:
    """Return the theme that people or Textual call so, as Textual does; empty when there is none."""
    known = theme_names()
    found = known.get(name, name)
    return found if found in known.values() else ""


def _valid_theme(value: Any) -> str:
    """Return the name of a theme that there is."""
    name = value.strip() if isinstance(value, str) else ""
    if name and theme_called(name):
        return name
    what = f"there is no theme {safe_line(name, 60)}" if name else "theme is a name"
    raise _WrongError(
        what, hint_with_nearest(name, theme_names(), 'Such as "dark", "light", "contrast" or "terminal".')
    )


_QUERY_NAME = re.compile(r'[^\s"]+')
"""The name of a query, as it can stand behind `@`."""


def _valid_query(saved: Mapping[str, str], name: str, value: Any) -> str:
    """Return a query that can be read, under a name that can be asked for; `saved` are all of the file."""
    if not isinstance(value, str):
        raise _WrongError(f"{safe_line(name, 60)} is a query in quotes", 'Such as "is:open from:bob".')
    if _QUERY_NAME.fullmatch(name) is None:
        raise _WrongError(f"{safe_line(name, 60)!r} cannot be asked for as @NAME", "A name is one word without quotes.")
    try:
        parse_query(value, now=utc_now(), saved=saved)
    except TeamError as error:
        raise _WrongError(f"{safe_line(name, 60)}: {error.message}", error.hint) from None
    return value


def _valid_keys(name: str, value: Any) -> tuple[str, ...]:
    """Return the key or the keys of an action, all of which are keys that can be given away."""
    keys = [value] if isinstance(value, str) else value
    if not isinstance(keys, list) or not keys or not all(isinstance(key, str) and _is_key(key) for key in keys):
        raise _WrongError(f"{name} is a key or a list of keys", 'Such as "a", "ctrl+x", "f5" or ["a", "f5"].')
    if fixed := [key for key in keys if key in FIXED_KEYS]:
        raise _WrongError(f"{fixed[0]} is the key that {FIXED_KEYS[fixed[0]]}", "Choose another.")
    return tuple(keys)


def _keys_in_force(usual: Mapping[str, tuple[str, ...]], chosen: Any) -> dict[str, str]:
    """Return the action of each key, those included that the user chose and that can hold."""
    keys = dict(usual)
    for name, value in chosen.items() if isinstance(chosen, dict) else ():
        if name in usual:
            with suppress(_WrongError):
                keys[name] = _valid_keys(name, value)
    return {key: name for name, own in keys.items() for key in own}


def _valid_shell_line(value: Any) -> str:
    """Return a line for the shell in which each placeholder is one word."""
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise _WrongError("run is a line for the shell", 'Such as run = "git log --oneline".')
    if (wrong := misplaced_placeholder(value)) is not None:
        placeholder, why = wrong
        place = value.index(placeholder) + 1
        raise _WrongError(f"{placeholder} {why} (column {place})", "Write it without: it is quoted by itself.")
    return value


def _is_key(key: str) -> bool:
    """Return whether it can be a key as Textual names them: one character, or a name such as `ctrl+x` or `f5`."""
    from textual.keys import Keys, key_to_character  # few files name one

    *held, name = key.split("+") if len(key) > 1 else [key]
    names = {item for known in Keys for item in known.value.split("+")}
    # Unicode has names for controls, too, such as `esc`, that no terminal reports a key by.
    is_named = name in names or (name.islower() and (key_to_character(name) or "\0").isprintable())
    return _MODIFIERS.issuperset(held) and ((len(name) == 1 and name.isprintable()) or is_named)


def line_number_of(lines: list[str], table: str, name: str, number: int) -> int:
    """Return the line on which `name` of `table` stands, from 1, or else that on which the table begins; 0 for neither.

    TOML has three forms for it: below the heading of the table, in one line `sort = {agents = "age"}`, and in dotted
    lines `sort.agents = "age"`.

    Args:
        table: Empty for what stands above all headings.
        number: Which of the tables that are called so is meant, from 1.
    """
    heading_of_name = f"{table}.{name}" if table else name
    line_of_name = re.compile(rf"{_key_pattern(name)}[=.]")
    line_of_table = re.compile(rf"{_key_pattern(table)}[=.]")
    dotted_line = re.compile(rf"{_key_pattern(table)}\.{_key_pattern(name)}[=.]")
    heading, same_headings, begin = "", 0, 0
    for place, line in enumerate(lines, start=1):
        if match := _HEADING.match(line):
            heading = match[1]
            if heading == heading_of_name:
                return place
            if heading == table:
                same_headings += 1
                begin = place if same_headings == number else begin
        elif heading == table:
            if same_headings in (0, number) and line_of_name.match(line):
                return place
        elif not heading:
            if dotted_line.match(line):
                return place
            if line_of_table.match(line):
                begin = begin or place
    return begin


def _key_pattern(name: str) -> str:
    """Return the regular expression of a key at the beginning of a line, with quotes around it or without."""
    return rf"\s*[\"']?{re.escape(name)}[\"']?\s*"


# Preferences as a file: those that hold now, with what each is for; what is not chosen stands in comments.


_WITH_HEADINGS = ("sort", "filters", "commands", "keys")
"""Settings that are tables below headings of their own; all others stand above these."""


def as_toml(preferences: Preferences) -> str:
    """Return a whole `config.toml` that says what holds now."""
    filters = dict(preferences.filters)
    example = properties_of(Preferences)["filters"]["examples"][0]
    parts = [
        _setting_lines(preferences, [name for name in properties_of(Preferences) if name not in _WITH_HEADINGS]),
        ["", "[sort]", *_setting_lines(preferences.sort)],
        ["", "[filters]    # a query under a name: /@late then asks for it"],
        [f"{name} = {toml_text(query)}" for name, query in filters.items()],
        [f"# {name} = {toml_text(query)}" for name, query in example.items() if not filters],
        ["", "# A command of your own on a key."],
        *(["[[commands]]", *_setting_lines(one)] for one in preferences.commands),
        [] if preferences.commands else ["# [[commands]]", *_setting_lines(_EXAMPLE, chosen="# ")],
        ["", "[keys]"],
        [_line_of_key(name, usual, preferences.keys.get(name)) for name, usual in usual_keys().items()],
    ]
    return "".join(f"{line}\n" for part in parts for line in part)


_EXAMPLE = OwnCommand("F", "wc -w {file}", label="count words")


def _setting_lines(table: Struct, names: Iterable[str] = (), *, chosen: str = "") -> Iterator[str]:
    """Yield a line for each setting of a table, by default of all; with `chosen` before those that are not usual."""
    shapes = properties_of(type(table))
    usual = {one.name: one.default for one in fields(type(table))}
    for name in names or shapes:
        shape, value = shapes[name], getattr(table, name)
        is_usual = value == usual[name]
        shown = value or next(iter(shape.get("examples", ())), "") or next(filter(None, shape.get("enum", ())), "")
        note = f"    # {words_of(shape)}: {shape['description']}"
        yield f"{'# ' if is_usual else chosen}{name} = {toml_text(shown if is_usual else value)}{note}"


def _line_of_key(name: str, usual: tuple[str, ...], own: tuple[str, ...] | None) -> str:
    """Return the line for the keys of an action; the usual ones stand in a comment."""
    return f"# {name} = {toml_text(usual)}" if own is None else f"{name} = {toml_text(own)}"


def toml_text(value: Any) -> str:
    """Return a value as TOML writes it: text, a number, or a list of texts."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)
