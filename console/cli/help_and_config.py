"""The verbs `help` and `config`: the reference of settings, keys, variables, files, codes and schemas, in print.

Words of the reference that the code does not know itself stand in `reference.toml`; the README's reference and the man
page are made of the same rows.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict
from team_console.console.actions import ACTIONS, Action, written_key
from team_console.console.cli.arguments import arg, verb
from team_console.console.cli.call import Call, UsageError
from team_console.console.cli.main import find_verb, overview, parser_for
from team_console.console.preferences import (
    as_toml,
    config_path,
    default_in,
    every_preference,
    examples_in,
    load_preferences,
    words_of,
    wrong_environment,
)
from team_console.console.selection import PLACES, Mode
from team_console.store.model.errors import Code
from team_console.store.model.names import hint_with_nearest
from team_console.store.model.safe import counted, safe_line
from team_console.store.settings.table import MEMBER, Setting, ValueForm, every_setting
from team_console.store.settings.team_config import Agent, TeamConfig

# The reference beside the parsers of the verbs: settings, environment, files, exit statuses, error codes, keys.

Rows = Mapping[str, str]
"""Word -> what it means."""


class SettingRow(Struct, frozen=True):
    """What the reference says of one setting.

    Attributes:
        path: Its name, with dots between tables.
        value, default: What it takes, and what holds without it, in words.
        also: Other names that are read for it.
    """

    path: str
    value: str
    default: str
    meaning: str
    also: tuple[str, ...] = ()


_HERE = os.path.dirname(__file__)
with open(os.path.join(_HERE, "reference.toml"), "rb") as _file:
    _TEXTS = tomllib.load(_file)
ENVIRONMENT: Rows = _TEXTS["environment"]
EXIT_STATUSES: Rows = _TEXTS["exit_codes"]
FILES: Rows = _TEXTS["files"]
ERRORS: Rows = {code: _TEXTS["errors"][code] for code in Code}
EXAMPLE: str = _TEXTS["settings"]["example"]
CONFIG: tuple[SettingRow, ...] = tuple(
    SettingRow(path, words_of(shape) + examples_in(shape), default_in(shape), shape["description"])
    for path, shape in every_preference()
)
"""The settings of one user, in `config.toml`."""


def setting_rows(topic: str) -> list[SettingRow]:
    """Return every setting in the order of its table; only those that `topic` names, all where it is empty."""
    rows = (
        SettingRow(path, _value_words(setting), _default_words(setting), setting.meaning, setting.also)
        for path, setting in every_setting()
    )
    return [row for row in rows if topic in ("", row.path, *row.path.replace("[]", "").split("."), *row.also)]


def settings_text(rows: Sequence[SettingRow]) -> Iterator[str]:
    """Yield the rows as lines for a terminal."""
    for row in rows:
        also = f" (also: {', '.join(row.also)})" if row.also else ""
        yield from (f"{row.path}{also}", f"    {row.meaning}", f"    value: {row.value}; without it: {row.default}")


def setting_words() -> set[str]:
    """Return every word that a setting is written with."""
    return {word for _, setting in every_setting() for word in setting.keys}


def _value_words(setting: Setting) -> str:
    """Return the values that a setting of a team takes, in words."""
    if setting.form is ValueForm.WORD:
        return ", ".join(setting.choices)
    if setting.form is ValueForm.VALUES and setting.choices:
        return f"a mapping of {', '.join(setting.choices)} to {setting.fields[0].form}"
    return str(setting.form)


def _default_words(setting: Setting) -> str:
    """Return what holds without the setting, in words: as its row says, else as the types of a team and a member do."""
    if setting.default:
        return setting.default
    owner = Agent("x") if setting in MEMBER else TeamConfig()
    value = getattr(owner, setting.key, None)
    if isinstance(value, (bool, float)):
        return str(value).lower() if isinstance(value, bool) else f"{value:g}"
    return "the defaults below" if setting.form is ValueForm.SECTION else str(value or "none")


def key_rows() -> Iterator[tuple[str, str, str]]:
    """Yield every key of the console: the key, what it does, in which modes."""
    places = ", ".join(mode.label for mode in PLACES)
    yield f"{PLACES[0].key} … {PLACES[-1].key}", f"Go to one of {places}.", "everywhere"
    for action in ACTIONS:
        if action.keys and action.keys[0] not in {mode.key for mode in PLACES}:
            yield written_key(action.keys[0]), action.help, _modes_words(action)


def keyless_rows() -> Iterator[tuple[str, str, str]]:
    """Yield every action without a key: its name, what it does, in which modes."""
    return ((action.id, action.help, _modes_words(action)) for action in ACTIONS if not action.keys)


def _modes_words(action: Action) -> str:
    return ", ".join(mode.label for mode in Mode if mode in action.modes) or "everywhere"


def read_schemas(name: str) -> dict[str, Any]:
    """Return the JSON Schemas that `python -m tests.schemas` keeps: `results` of what each verb prints with `--json`,
    with `error` for every refusal; `settings` of the files of one `user` and of a `team`, for editors.
    """
    with open(os.path.join(_HERE, f"{name}.json"), encoding="utf-8") as file:
        found: dict[str, Any] = json.load(file)
    return found


# `help`: explains a verb, or prints a part of the reference.


@verb(
    arg(
        "topic",
        "a verb, or: settings [NAME], keys, environment, files, exit-codes, json [VERB]",
        nargs="*",
        metavar="TOPIC",
        source="topics",
    )
)
def do_help(call: Call) -> None:
    """Explain a verb, or print a part of the reference.

    Examples:
      team-console help send
      team-console help settings retention   # the team's settings (messenger-config.yaml)
      team-console help config               # your own settings (config.toml)
      team-console help keys                 # the keys of the console
      team-console help environment          # variables; also: files, exit-codes
      team-console help json status          # the JSON Schema of what status --json prints"""
    topic, *names = call.options.topic or [""]
    taken = 1 if topic in _TAKES_NAME else 0
    if names[taken:]:
        raise UsageError(f"help: {names[taken]!r} is one word too many", "For example: team-console help approve")
    name = names[0] if names else ""
    if not topic:
        call.write(overview())
    elif topic == "settings":
        _print_settings(call, name)
    elif topic == "json":
        _print_schema(call, name)
    elif topic in _TABLES:
        _print_tables(call, _TABLES[topic])
    else:
        call.write(parser_for(find_verb(topic)).format_help().rstrip("\n"))


_TAKES_NAME = ("settings", "json")
"""Topics that go on with a name."""
_TABLES: Mapping[str, Mapping[str, tuple[str, Rows]]] = {
    "environment": {"environment": ("Variables of the environment that are read:", ENVIRONMENT)},
    "files": {"files": ("Files of a team in a folder, and of one user:", FILES)},
    "exit-codes": {
        "exit_codes": ("Exit statuses:", EXIT_STATUSES),
        "errors": ("Error codes, in the field `error` of --json and behind the message without:", ERRORS),
    },
    "keys": {
        "keys": (
            "Keys of the console; ? shows those of the present place, and : runs those without a key by their names:",
            {key: f"{meaning} ({modes})" for key, meaning, modes in key_rows()}
            | {f": {name}": f"{meaning} ({modes})" for name, meaning, modes in keyless_rows()},
        )
    },
}
"""Topic -> the name of each of its tables in JSON, its title and its rows."""
TOPICS = (*_TAKES_NAME, *_TABLES)


def _print_tables(call: Call, tables: Mapping[str, tuple[str, Rows]]) -> None:
    """Print tables of the reference, one below the other."""
    lines = []
    for title, rows in tables.values():
        width = max(map(len, rows)) + 2
        lines += ["", title, *(f"  {word.ljust(width)}{meaning}" for word, meaning in rows.items())]
    call.print_result({name: rows for name, (_, rows) in tables.items()}, *lines[1:])


def _print_settings(call: Call, topic: str) -> None:
    """Print the settings of a team that `topic` names; all of them, and an example, where it is empty."""
    rows = setting_rows(topic)
    if not rows:
        hint = hint_with_nearest(topic, setting_words(), "team-console help settings lists them all.")
        raise UsageError(f"there is no setting {topic!r}", hint)
    call.print_result({"settings": [asdict(row) for row in rows]}, *settings_text(rows))
    if not topic and not call.as_json:
        call.write("\nThey stand in messenger-config.yaml of the team, in YAML. An example:\n\n" + EXAMPLE.rstrip())


def _print_schema(call: Call, name: str) -> None:
    """Print the JSON Schema of what a verb prints; without a name the verbs that have one."""
    schemas = read_schemas("results")
    if not name:
        head = "team-console help json VERB prints the JSON Schema of what VERB --json prints. Verbs:"
        call.say(head, "  " + " ".join(schemas))
        return
    if name not in schemas:
        hint = hint_with_nearest(name, schemas, "team-console help json lists the verbs with JSON.")
        raise UsageError(f"{name} prints no JSON of its own", hint)
    call.json(schemas[name])


# `config`: where the user's own settings are, what holds now, and what is wrong with them.

_EXIT_MISTAKES = 1


@verb(
    arg("what", "(default: show)", nargs="?", choices=("path", "show", "check", "schema"), default="show"),
    arg("of", "whose settings the schema is of (default: user)", nargs="?", choices=("user", "team")),
    epilog="The settings:\n\n" + "\n".join(settings_text(CONFIG)),
)
def do_config(call: Call) -> int:
    """Show or check your own settings of the console: theme, keys, sorting, notices of new decisions.
    path prints where the file is. show prints the settings in use, as a whole file to start from. check lists
    every mistake with its line, and exits with 1 if there is one. schema prints the JSON Schema of the file for
    an editor, schema team that of messenger-config.yaml.

    Examples:
      team-console config check
      team-console config schema team > messenger-config.schema.json"""
    path, what = safe_line(config_path(), 1000), call.options.what
    if what == "schema":
        call.json(read_schemas("settings")[call.options.of or "user"])
        return 0
    if call.options.of:
        raise UsageError(f"{what} is of the user's settings alone", "Only schema knows those of a team.")
    if what == "path":
        call.print_result({"path": path, "exists": os.path.exists(config_path())}, path)
        return 0
    checked = load_preferences()
    if what == "show" and not call.as_json:
        call.write(as_toml(checked.preferences).rstrip("\n"))
        call.warn([f"{path}:{mistake.line}: {mistake.message}" for mistake in checked.mistakes])
        return 0
    wrong = wrong_environment(checked.preferences)
    call.warn([wrong] if wrong else [])
    mistakes = [asdict(mistake) for mistake in checked.mistakes]
    number = counted(len(mistakes), "mistake") if mistakes else f"{path}: no mistakes"
    call.print_result(
        {"path": path, "exists": checked.exists, "mistakes": mistakes},
        *(f"{path}:{one.line}: {one.message}. {one.hint}".rstrip() for one in checked.mistakes),
        number if checked.exists else f"{path} is not there; the defaults hold",
    )
    return _EXIT_MISTAKES if what == "check" and checked.mistakes else 0
