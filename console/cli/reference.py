"""The reference beside the parsers of the verbs: settings, environment, files, exit statuses, error codes, keys.

`help`, the man page and the pages of `docs/reference` are made from these tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from team_console.console.actions import ACTIONS, written_key
from team_console.console.preferences import COLUMNS, DENSITIES, OUTPUTS, SORTS
from team_console.console.selection import Mode
from team_console.store.model.errors import Code
from team_console.store.settings.parsing import MEMBER, TABLE, Setting, ValueForm, every_setting
from team_console.store.settings.team_config import Agent, TeamConfig

Rows = Sequence[tuple[str, str]]


class SettingRow(Struct, frozen=True):
    """One line of the reference."""

    path: str
    value: str
    default: str
    meaning: str
    also: tuple[str, ...] = ()


ENVIRONMENT: Rows = (
    ("TEAM_CONSOLE_TEAM", "the team, as -t LOCATION would name it"),
    ("TEAM_CONSOLE_AS", "who acts; `join` sets it for an agent, which then cannot act as a human"),
    ("TEAM_CONSOLE_CONFIG", "the file with your own settings (default: ~/.config/team-console/config.toml)"),
    ("TEAM_CONSOLE_THEME", "the theme to begin with; it goes before the setting"),
    ("TEAM_CONSOLE_CANVAS", "`off` sends the terminal all that Textual draws, not only what changed"),
    ("TEAM_CONSOLE_GRACE", "seconds in which a decision can be taken back, 0 to 60; it goes before the setting"),
    ("TEAM_CONSOLE_DEBUG", "set to anything: print the traceback of a defect"),
    ("VISUAL, EDITOR", "the editor that ctrl+e opens on a text"),
    ("NO_COLOR", "set to anything: no colours, only bold, reverse and underline"),
    ("XDG_CONFIG_HOME", "where the folder of your settings is (default: ~/.config)"),
    ("XDG_STATE_HOME", "where drafts, the last place, the log and records of clients are (default: ~/.local/state)"),
    ("SSH_AUTH_SOCK", "the SSH agent that may sign verdicts"),
    ("CLAUDE_CONFIG_DIR, CODEX_HOME", "where the clients keep their settings, for `join --user`"),
)
"""Variables that are read, each with what it does."""

EXIT_STATUSES: Rows = (
    ("0", "done; of a wait for a verdict: yes, or answered"),
    ("1", "refused, with an error code; of `check` and `config check`: there are findings"),
    ("2", "the command line was not understood (USAGE)"),
    ("3", "the team is locked by another program (STORE_LOCKED)"),
    ("4", "the team cannot be read (STORE_UNREADABLE)"),
    ("5", "the team was opened read-only (READ_ONLY)"),
    ("6", "a wait for messages ended and nothing came"),
    ("10", "a wait for a verdict: no, read why"),
    ("11", "a wait for a verdict: nothing yet"),
    ("12", "a wait for a verdict: withdrawn, timed out, or superseded"),
    ("130", "interrupted with ctrl+c"),
    ("141", "the program that read the output has gone"),
)
"""How a verb can leave."""

FILES: Rows = (
    ("message-queue.yaml", "the queue: `messages:`, a list; it may be edited by hand, comments and unknown keys stay"),
    ("message-queue.yaml.lock", "the kernel lock, and who holds it; never delete it"),
    ("message-queue.yaml.prev", "the queue before the last change"),
    ("archive/AGENT-archive.yaml", "the archive of an agent: every message it has read"),
    ("messenger-config.yaml", "the settings of the team: members, lead, limits, permissions, routes"),
    ("audit.jsonl", "the audit log: one hash-chained line for each commit; recovery reads it too"),
    ("drop/", "the drop folder: a script that cannot lock renames its message into it"),
    ("rejected/", "drop files that could not be taken in, each with its finding"),
    ("inbox/AGENT.jsonl", "what the router delivered"),
    ("attachments/", "contents above 64 KiB"),
    ("presence/", "one locked file for each open console and each waiting client; gone with its process"),
    ("~/.config/team-console/config.toml", "your own settings: theme, keys, columns, notices"),
    ("~/.local/state/team-console/", "drafts, the last place, runs of clients, the log of defects"),
)
"""The files of a YAML team, then those of one user."""

TOPICS = ("settings", "json", "environment", "files", "exit-codes", "keys")
"""What `help` explains besides verbs."""
_ERRORS: Mapping[Code, str] = {
    Code.INVALID_TYPE: "the kind of message does not exist, or may not be sent that way",
    Code.MISSING_RECIPIENT: "no recipient was named",
    Code.INVALID_REQUEST_ID: "there is no such request, or several are meant",
    Code.APPROVE_MISSING: "an answer says neither yes nor no",
    Code.AGENT_NOT_FOUND: "nobody in the team has that name; the hint has the nearest one",
    Code.DELIVERY_TIMEOUT: "the command that delivers did not end in time",
    Code.MISSING_CONTENT: "the message has no content",
    Code.MISSING_SUMMARY: "the message has no summary",
    Code.MISSING_REASON: "a no needs its reason",
    Code.FORBIDDEN_FIELD: "the kind of message must not have that field",
    Code.INVALID_FIELD: "a field has a value that its kind does not allow",
    Code.INVALID_NAME: "a name has characters that are not allowed, or differs from a known one in case only",
    Code.DUPLICATE_ID: "another message has that id already",
    Code.ALREADY_ANSWERED: "the first valid answer stands; the error says whose it is and when it was given",
    Code.NOT_PERMITTED: "who acts may not do this",
    Code.CONTENT_TOO_LARGE: "the content is above the limit of the team",
    Code.READ_ONLY: "the team was opened read-only, or its place cannot be written",
    Code.STORE_LOCKED: "another program holds the lock; the error names it",
    Code.STORE_UNREADABLE: "a file of the team is damaged or cannot be read; nothing is written until it is mended",
    Code.STORE_FAILED: "the system refused to write: disk full, no permission, connection lost",
    Code.TEAM_NOT_FOUND: "there is no team at that place",
    Code.SPAWN_FAILED: "a program of the settings, or an editor, could not be started",
    Code.SIGNATURE_FAILED: "the verdict could not be signed; nothing was decided",
    Code.ACTOR_BOUND: "the environment says who acts, and --as names somebody else",
    Code.ACTOR_UNNAMED: "off a terminal a decision must say who decides: --as NAME",
    Code.USAGE: "the command line was not understood",
}

_TEXTS = "a list of texts"
_FLAG = str(ValueForm.FLAG)
CONFIG: tuple[SettingRow, ...] = (
    SettingRow(
        "theme", "a name, such as dark, light, contrast, terminal", "that of last time", "the theme to begin with"
    ),
    SettingRow("density", "compact, roomy", "roomy", "rows of one line, or of two where there is room"),
    SettingRow("remember", _FLAG, "true", "whether the console goes back to the place and the filter of last time"),
    SettingRow("grace_seconds", "a number from 0 to 60", "5", "seconds in which a decision can be taken back"),
    SettingRow("notices.title", _FLAG, "true", "the number of new decisions stands in the terminal's title"),
    SettingRow("notices.status", _FLAG, "true", "the terminal is told whether something waits for you (OSC 7501)"),
    SettingRow("notices.progress", _FLAG, "false", "its progress bar is full while something waits (OSC 9;4)"),
    SettingRow("notices.bell", _FLAG, "false", "the terminal's bell rings"),
    SettingRow("notices.desktop", _FLAG, "false", "the terminal is asked for a notice of the desktop"),
    SettingRow("notices.command", _TEXTS, "none", "a program and its arguments; the sentence is added as the last one"),
    SettingRow("notices.quiet", _TEXTS, "none", "spans of local time without bell, notice and command: 22:00-07:00"),
    SettingRow("notices.read_only", _FLAG, "false", "notices over a read-only team, too"),
    SettingRow("filters.NAME", "a query", "none", "what @NAME stands for in a filter: `/`, and `--find`"),
    SettingRow("commands.key", "a key", "none", "in each `[[commands]]`: the key of a command of your own"),
    SettingRow("commands.run", "a line", "none", "for the shell; {id} {agent} {file} {text} become quoted words"),
    SettingRow("commands.output", "a word", '"pager"', "where its output goes: pager, toast, terminal, none"),
    SettingRow("commands.label", "words", "none", "what ? and the palette call it"),
    SettingRow("columns.MODE", _TEXTS, "all of them", "the columns of a list beside its titles"),
    SettingRow("sort.MODE", "a column", "its own order", "what a list is sorted by"),
    SettingRow("keys.ACTION", "a key or a list of keys", "see help keys", "the keys of an action"),
)
"""The settings of one user, in `config.toml`."""
EXAMPLE = """\
team: sprint-42
lead: ceo
agents:
- name: ceo
  role: master
- name: developer
  role: resident
  plan_mode_required: true
  deliver: [./wake, developer]
message_types:
  handoff:
    required_fields: [artifact_path, context_summary, next_actions]
    priority: high
routing:
  analyst_to_pm:
    trigger: product brief complete
    from: analyst
    to: pm
    payload: [product_brief_path, key_insights]
"""
"""Settings that show every form of a value; a test reads them."""


def error_rows() -> Iterator[tuple[str, str]]:
    """Every error code with what it means."""
    return ((str(code), _ERRORS[code]) for code in Code)


def setting_rows(topic: str = "") -> list[SettingRow]:
    """Every setting in the order of its table; only those that `topic` names, none when it names none."""
    rows = (
        SettingRow(path, _value_words(setting), _default_words(setting), setting.meaning, setting.also)
        for path, setting in every_setting()
    )
    return [row for row in rows if not topic or _is_about(row, topic)]


def settings_text(rows: Sequence[SettingRow]) -> Iterator[str]:
    """The rows as lines for a terminal."""
    for row in rows:
        also = f" (also: {', '.join(row.also)})" if row.also else ""
        yield from (f"{row.path}{also}", f"    {row.meaning}", f"    value: {row.value}; without it: {row.default}")


def setting_words() -> set[str]:
    """Every word that a setting is written with."""
    return {word for _, setting in every_setting() for word in setting.keys}


def _is_about(row: SettingRow, topic: str) -> bool:
    parts = row.path.replace("[]", "").split(".")
    return topic == row.path or topic in parts or topic in row.also


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
    """Every key of the console: the key, what it does, in which modes."""
    for action in ACTIONS:
        modes = ", ".join(mode.label for mode in Mode if mode in action.modes) or "everywhere"
        yield written_key(action.keys[0]), action.help, modes


_OWN_COMMAND = {
    **{name: {"type": "string"} for name in ("key", "run", "label")},
    "output": {"enum": list(OUTPUTS)},
}


def config_schema() -> dict[str, Any]:
    """The JSON Schema of the user's `config.toml`, for editors."""
    words, flag = {"type": "array", "items": {"type": "string"}}, {"type": "boolean"}
    shapes: dict[str, Any] = {
        "density": {"enum": list(DENSITIES)},
        "grace_seconds": {"type": "number", "minimum": 0, "maximum": 60},
        "theme": {"type": "string"},
    }
    properties: dict[str, Any] = {}
    notices: dict[str, Any] = {}
    for row in CONFIG:
        table, _, name = row.path.rpartition(".")
        if not name.isupper() and table != "commands":
            shape = shapes.get(name) or (flag if row.value == _FLAG else words)
            (notices if table else properties)[name] = {**shape, "description": row.meaning}
    keys = {"anyOf": [{"type": "string"}, words]}
    properties |= {
        "notices": _table(notices),
        "columns": _table({mode: {"type": "array", "items": {"enum": list(names)}} for mode, names in COLUMNS.items()}),
        "filters": {"type": "object", "additionalProperties": {"type": "string"}},
        "commands": {"type": "array", "items": _table(_OWN_COMMAND)},
        "sort": _table({mode: {"enum": list(names)} for mode, names in SORTS.items()}),
        "keys": _table({action.id: {**keys, "description": action.help} for action in ACTIONS}),
    }
    return _document("team-console: the user's settings (config.toml)", _table(properties))


def team_schema() -> dict[str, Any]:
    """The JSON Schema of a team's `messenger-config.yaml`, for editors; BMAD's own keys are left alone."""
    return _document("team-console: the team's settings (messenger-config.yaml)", _mapping(TABLE, is_open=True))


def _document(title: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **schema}


def _table(properties: Mapping[str, Any], *, is_open: bool = False) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties), "additionalProperties": is_open}


def _mapping(settings: Sequence[Setting], *, is_open: bool = False) -> dict[str, Any]:
    return _table({key: _schema(setting) for setting in settings for key in setting.keys}, is_open=is_open)


def _schema(setting: Setting) -> dict[str, Any]:
    words = {"type": "array", "items": {"type": "string"}}
    shape: dict[str, Any] = {"type": "string"}
    match setting.form:
        case ValueForm.WORD:
            shape = {"enum": list(setting.choices)}
        case ValueForm.FLAG:
            shape = {"type": "boolean"}
        case ValueForm.COUNT:
            shape = {"type": "integer", "minimum": 1}
        case ValueForm.SECONDS:
            shape = {"type": "number", "exclusiveMinimum": 0}
        case ValueForm.TEXTS | ValueForm.KEYS | ValueForm.COMMAND:
            shape = words
        case ValueForm.SECTION:
            shape = _mapping(setting.fields)
        case ValueForm.ENTRIES:
            shape = {"type": "object", "additionalProperties": _mapping(setting.fields, is_open=True)}
        case ValueForm.VALUES:
            shape = {"type": "object", "additionalProperties": {"type": ["string", "number"]}}
        case ValueForm.MEMBERS:
            member = _mapping(setting.fields, is_open=True)
            named = {"type": "array", "items": {"anyOf": [{"type": "string"}, member]}}
            shape = {"anyOf": [named, {"type": "object", "additionalProperties": member}]}
    return {**shape, "description": setting.meaning}
