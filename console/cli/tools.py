"""Verbs about the program itself: `serve`, `config`, `help`, `completions`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec.structs import asdict
from team_console.console.actions import usual_keys
from team_console.console.cli.call import Call
from team_console.console.cli.completion import SCRIPTS, completions
from team_console.console.cli.main import find_verb, overview, parser_for
from team_console.console.cli.reference import (
    CONFIG,
    ENVIRONMENT,
    EXAMPLE,
    EXIT_STATUSES,
    FILES,
    Rows,
    config_schema,
    error_rows,
    key_rows,
    setting_rows,
    setting_words,
    settings_text,
    team_schema,
)
from team_console.console.cli.registry import arg, flag, verb
from team_console.console.cli.results import RESULTS, schema_of
from team_console.console.preferences import as_toml, config_path, load
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.home import home
from team_console.store.model.names import guess
from team_console.store.model.safe import counted, safe_line

# `serve`: the console in a browser on this machine.

PORT = 8765


@verb(
    arg("--port", f"where to listen ({PORT}); 0 for a free one", type=int, default=PORT, metavar="N"),
    flag("--write", "let whoever has the address decide and write"),
)
def do_serve(call: Call) -> int:
    """Show the console in a browser on this machine, read-only unless --write is given. The printed address
    holds a token, new at each start; without it every request is answered with 403. To reach it from another
    machine: ssh -L 8765:127.0.0.1:8765 HOST, then open the same address there.
    It needs the extra `serve`: pip install 'team-console[serve]'."""
    options = call.options
    if options.write and options.read_only:
        raise TeamError(Code.READ_ONLY, "--write and --read-only exclude each other", "Leave one of them out.")
    call.team.config()
    try:
        from team_console.console.serve import ConsoleServer  # an extra, with a web server in it
    except ImportError as error:
        text = f"serve needs the package {error.name or 'textual-serve'}, which is not installed"
        raise TeamError(Code.USAGE, text, "pip install 'team-console[serve]'") from None
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
        raise TeamError(Code.USAGE, text, "Choose another with --port N, or a free one with --port 0.") from None
    found = {"success": True, "action": "serve", "url": server.url, "port": server.port, "write": options.write}
    call.show(found, server.url)
    if not call.as_json:
        can = "read and write" if options.write else "read"
        call.note(
            f"Whoever has this address can {can} this team. From another machine: "
            f"ssh -L {server.port}:127.0.0.1:{server.port} HOST, then open it there. ctrl+c ends it."
        )
    call.out.flush()
    server.run()
    return 0


# `config`: where the user's own settings are, what holds now, and what is wrong with them.

_MISTAKES = 1


@verb(
    arg("what", "(default: show)", nargs="?", choices=("path", "show", "check", "schema"), default="show"),
    arg("of", "whose settings the schema is of (default: user)", nargs="?", choices=("user", "team")),
    epilog="The settings:\n\n" + "\n".join(settings_text(CONFIG)),
)
def do_config(call: Call) -> int:
    """The console's settings of one user: theme, keys, columns, sorting, notices of new decisions.
    path says where the file is, show prints what holds now as a whole file to start from,
    check lists every mistake with its line and exits with 1 if there is one, and
    schema prints the JSON Schema of the file for an editor; schema team that of messenger-config.yaml."""
    path, what = safe_line(config_path(), 1000), call.options.what
    if what == "schema":
        schema = team_schema() if call.options.of == "team" else config_schema()
        call.json(schema)
        return 0
    if call.options.of:
        raise TeamError(Code.USAGE, f"{what} is of the user's settings alone", "Only schema knows those of a team.")
    if what == "path":
        call.show({"path": path, "exists": os.path.exists(config_path())}, path)
        return 0
    checked = load(usual_keys())
    if what == "show" and not call.as_json:
        call.write(as_toml(checked.preferences, usual_keys()).rstrip("\n"))
        call.warn([f"{path}:{mistake.line}: {mistake.message}" for mistake in checked.mistakes])
        return 0
    mistakes = [asdict(mistake) for mistake in checked.mistakes]
    number = counted(len(mistakes), "mistake") if mistakes else f"{path}: no mistakes"
    call.show(
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
def do_help(call: Call) -> int:
    """Explain a verb, or print a part of the reference. Examples:

    team-console help send
    team-console help settings retention   # the team's settings (messenger-config.yaml)
    team-console help config               # your own settings (config.toml)
    team-console help keys                 # the keys of the console
    team-console help environment          # variables; also: files, exit-codes
    team-console help json status          # the JSON Schema of what status --json prints"""
    words = call.options.topic
    if not words:
        call.write(overview())
    elif words[0] == "settings":
        _settings(call, words[1:])
    elif words[0] == "json":
        _schema(call, words[1:])
    else:
        _refuse_more(words[1:])
        if words[0] in _TABLES:
            title, rows = _TABLES[words[0]]
            _say_rows(call, words[0], title, rows())
        elif words[0] == "exit-codes":
            _explain_exit_codes(call)
        else:
            call.write(parser_for(find_verb(words[0])).format_help().rstrip("\n"))
    return 0


def _explain_exit_codes(call: Call) -> None:
    errors = list(error_rows())
    if call.as_json:
        call.json({"exit_codes": dict(EXIT_STATUSES), "errors": dict(errors)})
        return
    _say_rows(call, "exit_codes", "Exit statuses:", EXIT_STATUSES)
    call.say()
    _say_rows(call, "errors", "Error codes, in the field `error` of --json and behind the message without:", errors)


def _key_meanings() -> Rows:
    return [(key, f"{meaning} ({modes})") for key, meaning, modes in key_rows()]


_TABLES: Mapping[str, tuple[str, Callable[[], Rows]]] = {
    "environment": ("Variables of the environment that are read:", lambda: ENVIRONMENT),
    "files": ("Files of a team in a folder, and of one user:", lambda: FILES),
    "keys": ("Keys of the console; ? shows those of the present place:", _key_meanings),
}
"""Topic -> its title and its rows."""


def _say_rows(call: Call, name: str, title: str, rows: Rows) -> None:
    width = max(len(word) for word, _ in rows) + 2
    call.show({name: dict(rows)}, title, *(f"  {word.ljust(width)}{meaning}" for word, meaning in rows))


def _settings(call: Call, words: Sequence[str]) -> None:
    _refuse_more(words[1:])
    topic = words[0] if words else ""
    rows = setting_rows(topic)
    if not rows:
        hint = guess(topic, setting_words(), "team-console help settings lists them all.")
        raise TeamError(Code.USAGE, f"there is no setting {topic!r}", hint)
    call.show({"settings": [asdict(row) for row in rows]}, *settings_text(rows))
    if not topic and not call.as_json:
        call.write("\nThey stand in messenger-config.yaml of the team, in YAML. An example:\n\n" + EXAMPLE.rstrip())


def _schema(call: Call, words: Sequence[str]) -> None:

    _refuse_more(words[1:])
    if not words:
        head = "team-console help json VERB prints the JSON Schema of what VERB --json prints. Verbs:"
        call.say(head, "  " + " ".join(RESULTS))
        return
    if words[0] not in RESULTS:
        hint = guess(words[0], RESULTS, "team-console help json lists the verbs with JSON.")
        raise TeamError(Code.USAGE, f"{words[0]} prints no JSON of its own", hint)
    call.json(schema_of(words[0]))


def _refuse_more(words: Sequence[str]) -> None:
    if words:
        raise TeamError(Code.USAGE, f"help: {words[0]!r} is one word too many", "team-console help --help says more.")


# `completions`: the completion script for a shell, made from the verbs' own options.

_PLACES = {
    "bash": ("XDG_DATA_HOME", ".local/share", "bash-completion/completions/team-console"),
    "zsh": ("ZDOTDIR", "", ".zfunc/_team-console"),
    "fish": ("XDG_CONFIG_HOME", ".config", "fish/completions/team-console.fish"),
}
"""Where a shell looks for its script: the variable of the base folder, that folder below home, the path in it."""


@verb(
    arg("shell", "the shell", choices=tuple(_PLACES)),
    flag("--install", "write it where the shell looks for it"),
)
def do_completions(call: Call) -> int:
    """Print a completion script, or install it for your user:

    team-console completions bash --install
    team-console completions zsh --install      # then, once, in ~/.zshrc: fpath+=~/.zfunc before compinit
    team-console completions fish --install"""
    text = SCRIPTS[call.options.shell]
    if not call.options.install:
        call.write(text.rstrip("\n"))
        return 0
    if call.options.read_only:
        raise TeamError(Code.READ_ONLY, "--install writes a file", "Leave --read-only out.")
    path = _place(call.options.shell)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        shown = safe_line(f"{path}: {error.strerror}", 1000)
        raise TeamError(Code.STORE_FAILED, shown, "Print the script and put it where you want it.") from None
    call.say(f"written: {path}; new shells have it")
    return 0


def _place(shell: str) -> Path:
    variable, usual, rest = _PLACES[shell]
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
