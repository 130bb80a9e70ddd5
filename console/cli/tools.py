"""Verbs about the program itself: `serve`, `config`, `help`, `completions`."""

from __future__ import annotations

import json
import os
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict
from team_console.console.actions import ACTIONS, Action, written_key
from team_console.console.cli.call import Call, UsageError
from team_console.console.cli.main import BY_NAME, VERBS, arg, find_verb, flag, overview, parser_for, verb
from team_console.console.cli.printing import view_now
from team_console.console.command_words import split_verb
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
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.home import home
from team_console.store.model.names import ALL, hint_with_nearest, is_name
from team_console.store.model.safe import counted, safe_line
from team_console.store.protocol.kinds import KINDS
from team_console.store.protocol.titles import summary_of
from team_console.store.settings.table import MEMBER, Setting, ValueForm, every_setting
from team_console.store.settings.team_config import Agent, TeamConfig

# The reference beside the parsers of the verbs: settings, environment, files, exit statuses, error codes, keys.

Rows = Mapping[str, str]
"""Word -> what it means."""


class SettingRow(Struct, frozen=True):
    """One line of the reference."""

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
    if setting.form is ValueForm.WORD:
        return ", ".join(setting.choices)
    if setting.form is ValueForm.VALUES and setting.choices:
        return f"a mapping of {', '.join(setting.choices)} to {setting.fields[0].form}"
    return str(setting.form)


def _default_words(setting: Setting) -> str:
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


# Completion of a command line: the scripts for bash, zsh and fish, which ask `_complete`, and its answer.

SCRIPTS = {
    "bash": r"""# bash completion for team-console
_team_console() {
  local line=${COMP_LINE:0:COMP_POINT} found
  local -a typed
  read -r -a typed <<<"$line"
  if [[ $line == *[[:space:]] ]]; then typed+=(''); fi
  found=$(team-console _complete -- "${typed[@]:1}" 2>/dev/null) || compopt -o default 2>/dev/null
  COMPREPLY=()
  [[ -z $found ]] || mapfile -t COMPREPLY <<<"$found"
  # readline replaces only what follows the last word break, so the part before it must not come twice
  local breaks=${COMP_WORDBREAKS//[[:space:]]/} kept=${typed[${#typed[@]}-1]}
  while [[ -n $kept && $breaks != *"${kept: -1}"* ]]; do kept=${kept%?}; done
  COMPREPLY=("${COMPREPLY[@]%%$'\t'*}")
  COMPREPLY=("${COMPREPLY[@]#"$kept"}")
}
complete -F _team_console team-console
""",
    "zsh": r"""#compdef team-console
_team_console() {
  local found
  found=$(team-console _complete -- "${(@Q)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null) || { _files; return }
  [[ -n $found ]] || return 1
  local -a lines=("${(@f)found}") given
  given=("${(@)lines%%$'\t'*}")
  lines=("${(@)lines/$'\t'/  }")
  compadd -l -d lines -a given
}
if [[ $funcstack[1] == _team-console ]]; then _team_console "$@"; else compdef _team_console team-console; fi
""",
    "fish": r"""# fish completion for team-console
function __team_console_complete
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    team-console _complete -- $before[2..] "$current" 2>/dev/null
    or __fish_complete_path "$current"
end
complete -c team-console -f -a '(__team_console_complete)'
""",
}
_PLAIN = re.compile(r"[\w@.+:-]+")
"""Words a shell takes as they are; bash expands what a completion script is given."""


def completions(call: Call, words: list[str]) -> Iterator[tuple[str, str]] | None:
    """Return words that may stand in place of the last one, each with what it means; None where files do.

    Raises:
        TeamError: When the team cannot be read.
    """
    before, current = [word for word in words[:-1] if word], words[-1] if words else ""
    name, _ = split_verb(before)
    verb = BY_NAME.get(name or "")
    actions = parser_for(verb)._actions
    for flags, value in pairwise(before):  # the team and the actor that the line names
        for action in actions:
            if flags in action.option_strings and action.dest in ("team", "actor"):
                setattr(call.options, action.dest, value)
    asked = [item for item in actions if before and before[-1] in item.option_strings and item.nargs != 0]
    if not asked and current.startswith("-"):
        return _matching(current, ((flag, item.help or "") for item in actions for flag in item.option_strings))
    if not asked and verb is None:
        verbs = VERBS if name is None else ()
        return _matching(current, ((verb.name, verb.help) for verb in verbs if verb.group))
    places = asked or [item for item in actions if not item.option_strings]
    sources = dict.fromkeys(getattr(item, "complete_from", "") for item in places)
    if "files" in sources:
        return None
    choices = [(str(choice), "") for item in places for choice in item.choices or ()]
    there = chain(choices, *(_values_of(call, source) for source in sources))
    head, comma, last = current.rpartition(",")
    if comma and {"agents", "recipients"} & sources.keys():
        return ((f"{head},{word}", meaning) for word, meaning in _matching(last, there))
    return _matching(current, there)


def _matching(current: str, words: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    return (
        (word, " ".join(meaning.replace("%%", "%").split()))
        for word, meaning in words
        if word.startswith(current) and (_PLAIN.fullmatch(word) or is_name(word))
    )


def _values_of(call: Call, source: str) -> Iterator[tuple[str, str]]:
    """Yield the team's values of a kind, such as its agents."""
    match source:
        case "topics":
            yield from ((verb.name, verb.help) for verb in VERBS if verb.group)
            yield from ((topic, "") for topic in (*_TAKES_NAME, *_TABLES))
        case "agents" | "recipients":
            config = call.team.config()
            yield from ((agent.name, agent.role) for agent in config.agents.values())
            senders = () if config.declared else (message.sender for message in call.snapshot().messages)
            everybody = (ALL,) if source == "recipients" else ()
            others = dict.fromkeys((config.lead, *everybody, *senders))
            yield from ((name, "") for name in others if name not in config.agents)
        case "kinds":
            yield from ((kind, "") for kind in dict.fromkeys((*KINDS, *call.team.config().kinds)))
        case "requests":
            yield from ((row.request_id, row.title) for row in view_now(call).requests if row.is_open)
        case "messages":
            messages = call.snapshot().messages
            yield from ((message.message_id, summary_of(message)) for message in messages if message.status != "read")
        case "held":
            for message in call.snapshot().messages:
                if message.status in ("delivered", "claimed") and message.is_addressed_to(call.actor):
                    yield message.message_id, summary_of(message)


# `serve`: the console in a browser on this machine.

PORT = 8765


@verb(
    arg("--port", f"where to listen ({PORT}); 0 for a free one", type=int, default=PORT, metavar="N"),
    flag("--write", "let everybody who has the address decide and write"),
)
def do_serve(call: Call) -> None:
    """Show the console in a browser on this machine, read-only unless --write is given. The printed address has a
    token, new at each start; without it every request is answered with 403. From another machine:
    ssh -L 8765:127.0.0.1:8765 HOST, then open the same address there. It needs the extra `serve`; without it the
    error names the command that installs it.

    Examples:
      team-console serve --port 0"""
    options = call.options
    if options.write and options.read_only:
        raise TeamError(Code.READ_ONLY, "--write and --read-only exclude each other", "Leave one of them out.")
    call.team.config()
    try:
        from team_console.console.serve import ConsoleServer  # an extra, with a web server in it
    except ImportError as error:
        from team_console.store.model.optional_packages import install_line  # 20 ms

        text = f"serve needs the package {error.name or 'textual-serve'}, which is not installed"
        raise UsageError(text, f"Install it with: {install_line('serve')}") from None
    if options.team:  # not on the command line, where others would read the password of a database
        os.environ["TEAM_CONSOLE_TEAM"] = options.team
    seat = ["--as", call.given_actor] if call.given_actor else []
    mode = [] if options.write else ["--read-only"]
    try:
        server = ConsoleServer(
            [sys.executable, "-P", "-m", "team_console.console", *mode, *seat], port=options.port, title="team-console"
        )
    except (OSError, OverflowError) as error:
        text = f"port {options.port} cannot be used: {getattr(error, 'strerror', None) or error}"
        raise UsageError(text, "Choose another with --port N, or a free one with --port 0.") from None
    found = {"success": True, "action": "serve", "url": server.url, "port": server.port, "write": options.write}
    call.print_result(found, server.url)
    if not call.as_json:
        can = "read and write" if options.write else "read"
        call.note(
            f"Whoever has this address can {can} this team. From another machine: "
            f"ssh -L {server.port}:127.0.0.1:{server.port} HOST, then open it there. ctrl+c ends it."
        )
    call.flush()
    server.run()


# `config`: where the user's own settings are, what holds now, and what is wrong with them.

_MISTAKES = 1


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
    return _MISTAKES if what == "check" and checked.mistakes else 0


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
"""Topic -> the name of each of its tables, its title and its rows."""


def _print_tables(call: Call, tables: Mapping[str, tuple[str, Rows]]) -> None:
    lines = []
    for title, rows in tables.values():
        width = max(map(len, rows)) + 2
        lines += ["", title, *(f"  {word.ljust(width)}{meaning}" for word, meaning in rows.items())]
    call.print_result({name: rows for name, (_, rows) in tables.items()}, *lines[1:])


def _print_settings(call: Call, topic: str) -> None:
    rows = setting_rows(topic)
    if not rows:
        hint = hint_with_nearest(topic, setting_words(), "team-console help settings lists them all.")
        raise UsageError(f"there is no setting {topic!r}", hint)
    call.print_result({"settings": [asdict(row) for row in rows]}, *settings_text(rows))
    if not topic and not call.as_json:
        call.write("\nThey stand in messenger-config.yaml of the team, in YAML. An example:\n\n" + EXAMPLE.rstrip())


def _print_schema(call: Call, name: str) -> None:
    schemas = read_schemas("results")
    if not name:
        head = "team-console help json VERB prints the JSON Schema of what VERB --json prints. Verbs:"
        call.say(head, "  " + " ".join(schemas))
        return
    if name not in schemas:
        hint = hint_with_nearest(name, schemas, "team-console help json lists the verbs with JSON.")
        raise UsageError(f"{name} prints no JSON of its own", hint)
    call.json(schemas[name])


# `completions`: the completion script for a shell, made from the verbs' own options.

_SCRIPT_PLACES = {
    "bash": ("XDG_DATA_HOME", ".local/share", "bash-completion/completions/team-console"),
    "zsh": ("ZDOTDIR", "", ".zfunc/_team-console"),
    "fish": ("XDG_CONFIG_HOME", ".config", "fish/completions/team-console.fish"),
}
"""Where a shell looks for its script: the variable of the base folder, that folder below home, the path in it."""


@verb(
    arg("shell", "the shell", choices=tuple(_SCRIPT_PLACES)),
    flag("--install", "write it to where the shell looks for it"),
)
def do_completions(call: Call) -> None:
    """Print a completion script, or install it for your user.

    Examples:
      team-console completions bash --install
      team-console completions zsh --install      # then, once, in ~/.zshrc: fpath+=~/.zfunc before compinit
      team-console completions fish --install"""
    text = SCRIPTS[call.options.shell]
    if not call.options.install:
        call.write(text.rstrip("\n"))
        return
    if call.options.read_only:
        raise TeamError(Code.READ_ONLY, "--install writes a file", "Leave --read-only out.")
    path = _script_path(call.options.shell)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        shown = safe_line(f"{path}: {error.strerror}", 1000)
        raise TeamError(Code.STORE_FAILED, shown, "Print the script and put it where you want it.") from None
    call.say(f"written: {path}; new shells have it")


def _script_path(shell: str) -> Path:
    variable, usual, rest = _SCRIPT_PLACES[shell]
    base = os.environ.get(variable)
    return (Path(base) if base and os.path.isabs(base) else home() / usual) / rest


@verb(arg("words", "the words of a command line up to the cursor", nargs="*"))
def do_complete(call: Call) -> int:
    """Print what may stand in place of the last word; a team that cannot be read has nothing to offer."""
    with suppress(TeamError):
        found = completions(call, call.options.words)
        if found is None:
            return 1
        for word, meaning in found:
            call.write(f"{word}\t{safe_line(meaning)}")
    return 0
