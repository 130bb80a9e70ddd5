"""Read the YAML of the settings by their table: what is unknown or wrong is noted with its line, and never fatal."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any

from msgspec import Meta, Struct, ValidationError, convert
from team_console.store.model.clock import from_text
from team_console.store.model.errors import Problem
from team_console.store.model.message import Priority
from team_console.store.model.names import ALL, RULE, as_name, did_you_mean
from team_console.store.settings.outline import NotYamlError, Outline, below, outlines_of_parts, read_outline
from team_console.store.settings.public_keys import key_bytes
from team_console.store.settings.team_config import (
    ASK_FOR,
    ASK_WORDS,
    KINDS_WITH_PATIENCE,
    OVERDUE_SECONDS,
    QUEUE_PLACES,
    ConfigProblem,
    TeamConfig,
)

# The table of every setting: reading, checking, the nearest name and the reference are all made from it.

ROLES = ("master", "resident", "slave", "temp", "member")
LANGUAGES = ("any", "zh", "en")
WAITS = ("always", "present", "never")
VERDICTS = ("open", "signed")
PRIORITIES = tuple(str(priority) for priority in Priority)


class ValueForm(StrEnum):
    """What a value must look like; the text is what the reference and a finding say."""

    NAME = "a name"
    TEXT = "a text"
    WORD = "one of the words"
    FLAG = "true or false"
    COUNT = "a whole number above 0"
    SECONDS = "a number of seconds above 0"
    TEXTS = "a list of texts"
    RULES = "a list of actions"
    KEYS = "a list of public keys, as in id_ed25519.pub"
    MOMENT = "a date or a time"
    COMMAND = "a command and its arguments, as a list"
    SECTION = "a mapping of the settings below"
    ENTRIES = "a mapping of names to the settings below"
    VALUES = "a mapping of names to values"
    MEMBERS = "a list of names or mappings, or a mapping of names to mappings"


class Setting(Struct, frozen=True):
    """One setting.

    Attributes:
        also: Other words for the same setting.
        meaning: What it does, in one line.
        default: What counts without it, where that is neither nothing nor a plain value of `TeamConfig` or `Agent`.
        choices: The words it may be.
        fields: The settings inside it; of `VALUES` one that stands for each value.
        values: For `ENTRIES` and `VALUES`: what their names are.
        needed: Whether its mapping is of no use without it.
        closed: Whether a wrong value permits nothing, because its absence would permit everything.
    """

    key: str
    form: ValueForm
    meaning: str
    also: tuple[str, ...] = ()
    default: str = ""
    choices: tuple[str, ...] = ()
    fields: tuple[Setting, ...] = ()
    values: str = ""
    needed: bool = False
    closed: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        """Every word for it."""
        return (self.key, *self.also)


MEMBER = (
    Setting("name", ValueForm.NAME, "the member's name", default="needed in a list", needed=True),
    Setting("role", ValueForm.WORD, "what it is in the team", choices=ROLES),
    Setting(
        "plan_mode_required",
        ValueForm.FLAG,
        "it hands in a plan and works only after its approval",
        also=("plan",),
    ),
    Setting(
        "deliver",
        ValueForm.COMMAND,
        "runs for each pushed message (record on its standard input)",
        default="its inbox file",
    ),
    Setting("deliver_timeout", ValueForm.SECONDS, "how long that command may take"),
    Setting("may_message", ValueForm.TEXTS, "whom it may write to", default="everybody", closed=True),
    Setting(
        "may_send",
        ValueForm.TEXTS,
        "which kinds it may send; what it is asked it may always answer",
        default="all",
        closed=True,
    ),
    Setting("ask_for", ValueForm.RULES, "actions of this agent that need your answer", default="the team's"),
    Setting("agent_type", ValueForm.TEXT, "kept for other programs"),
    Setting("description", ValueForm.TEXT, "kept for people"),
)
RETENTION = (
    Setting("active_messages_max", ValueForm.COUNT, "read messages that stay in the queue at most"),
    Setting("archive_after_days", ValueForm.COUNT, "read messages older than that leave the queue for the archives"),
    Setting("delete_archived_after_days", ValueForm.COUNT, "age from which `clear` deletes archived messages"),
)
LIMITS = (
    Setting("content_max_bytes", ValueForm.COUNT, "larger messages are refused"),
    Setting("attachment_bytes", ValueForm.COUNT, "larger contents move to `attachments/`"),
    Setting("content_soft_bytes", ValueForm.COUNT, "larger messages give a warning"),
)
_KIND = (
    Setting("description", ValueForm.TEXT, "what the kind is for"),
    Setting("required_fields", ValueForm.TEXTS, "fields that `send` refuses the kind without"),
    Setting(
        "priority", ValueForm.WORD, "its priority where none is given", choices=PRIORITIES, default="the kind's own"
    ),
)
_ROUTE = (
    Setting("trigger", ValueForm.TEXT, "when the handoff is due"),
    Setting("from", ValueForm.NAME, "who hands over", default="needed", needed=True),
    Setting("to", ValueForm.NAME, "who takes over", default="needed", needed=True),
    Setting("payload", ValueForm.TEXTS, "fields that the handoff carries; `send` warns of missing ones"),
)
_HUMAN = (
    Setting("keys", ValueForm.KEYS, "the public keys that may sign its verdicts"),
    Setting(
        "sign_with",
        ValueForm.TEXT,
        "file of the key to sign with on this machine, private or public",
        default="the one in `~/.ssh` or in the agent",
    ),
)
_WAIT = Setting("seconds", ValueForm.SECONDS, "seconds")

SETTING_TABLE: tuple[Setting, ...] = (
    Setting("team", ValueForm.NAME, "the team's name, part of request ids", also=("name",), default="team"),
    Setting(
        "lead",
        ValueForm.NAME,
        "who answers plans and may ask for shutdowns",
        also=("master",),
        default="the member with role master, else user",
    ),
    Setting(
        "agents",
        ValueForm.MEMBERS,
        "the members; with a list other names are refused",
        also=("members",),
        fields=MEMBER,
        default="whoever writes and is written to",
    ),
    Setting(
        "language", ValueForm.WORD, "the language of summaries, and of words written into messages", choices=LANGUAGES
    ),
    Setting(
        "wait_for_human",
        ValueForm.WORD,
        "when a client's hook waits for an answer; `present`: while a console is open",
        choices=WAITS,
    ),
    Setting(
        "ask_for",
        ValueForm.RULES,
        "actions that need your answer even if a client asks nobody",
        choices=ASK_WORDS,
        default=", ".join(ASK_FOR),
    ),
    Setting("retention", ValueForm.SECTION, "how long messages stay", fields=RETENTION),
    Setting("limits", ValueForm.SECTION, "how large messages may be", fields=LIMITS),
    Setting(
        "overdue_seconds",
        ValueForm.VALUES,
        "how long a request may stay open before it is overdue; default: kinds without a time of their own",
        fields=(_WAIT,),
        choices=KINDS_WITH_PATIENCE,
        values="KIND OF REQUEST",
        default=", ".join(f"{kind} {seconds:g}" for kind, seconds in OVERDUE_SECONDS.items()),
    ),
    Setting(
        "message_types",
        ValueForm.ENTRIES,
        "rules for kinds of message, your own kinds included",
        fields=_KIND,
        values="KIND",
    ),
    Setting(
        "priorities",
        ValueForm.VALUES,
        "the order of the priorities (critical: 1), or a kind's priority (review: high)",
        fields=(Setting("priority", ValueForm.TEXT, "a priority or a number"),),
        values="PRIORITY or KIND",
        default="critical, high, medium, low",
    ),
    Setting(
        "routing",
        ValueForm.ENTRIES,
        "handoffs between two members, each checked for its fields when it is sent",
        also=("routes",),
        fields=_ROUTE,
        values="ROUTE",
    ),
    Setting(
        "humans",
        ValueForm.ENTRIES,
        "who of the team is a human, and which SSH keys sign that human's verdicts",
        fields=_HUMAN,
        values="NAME",
        default="the lead and `user`, without keys",
    ),
    Setting(
        "verdicts",
        ValueForm.WORD,
        "`signed`: only a verdict that its human signed decides",
        choices=VERDICTS,
        default="signed once a human has keys, else open",
        closed=True,
    ),
    Setting("team_id", ValueForm.TEXT, "what signed verdicts name the team by", default="made with the first of them"),
    Setting(
        "signed_since",
        ValueForm.MOMENT,
        "verdicts from before then need no signature, if the audit trail has them",
        default="every verdict needs one",
    ),
    Setting("spawn", ValueForm.COMMAND, "runs when a creation request is approved", default="nothing"),
    Setting("key_file", ValueForm.TEXT, "file of the key that signs messages, readable by you alone", default="no key"),
    Setting("queue_dir", ValueForm.TEXT, "folder of the queue, inside the project", default="see `help files`"),
    Setting("queue_file", ValueForm.TEXT, "the queue", default="{queue_dir}/message-queue.yaml"),
    Setting("archive_dir", ValueForm.TEXT, "folder of the archives, inside the project", default="{queue_dir}/archive"),
    Setting("version", ValueForm.TEXT, "kept for people"),
    Setting("description", ValueForm.TEXT, "kept for people"),
)
HOISTED = (*RETENTION, *LIMITS)
"""Settings of a section that may also stand at the top."""


def every_setting() -> Iterator[tuple[str, Setting]]:
    """Yield each setting with its path (`agents[].role`, `message_types.KIND.priority`), as the reference lists
    them.
    """
    for setting in SETTING_TABLE:
        yield setting.key, setting
        between = {ValueForm.MEMBERS: "[]", ValueForm.ENTRIES: f".{setting.values}"}.get(setting.form, "")
        for inner in setting.fields if setting.form is not ValueForm.VALUES else ():
            yield f"{setting.key}{between}.{inner.key}", inner


_RULE_OF_CLAUDE_CODE = r"(?a)(?:[A-Z]\w*(?:\(.+\))?|mcp__[\w.*-]+)"
"""A permission rule of Claude Code, such as `Bash(make deploy:*)`."""
Values = dict[str, Any]
MAX_BYTES = 1_048_576
_SETTINGS_AT_TOP = {word: setting for setting in (*HOISTED, *SETTING_TABLE) for word in setting.keys}
_COUNT = Annotated[int, Meta(gt=0, lt=10**12)]
_SECONDS = Annotated[float, Meta(gt=0, lt=10**9)]
_FLAGS = {**dict.fromkeys(("true", "yes", "on"), True), **dict.fromkeys(("false", "no", "off"), False)}


class SettingsChecker:
    """Turns settings into checked values by key; a wrong value is left out, so that its default counts.

    Attributes:
        values: What was read.
        problems: What is wrong, in the order it was met.
        misread: Keys at the top that are there and could not be understood; in settings that are not YAML as a whole
            also lead and members that were not found, because they may be in the part that is not.
        lines: The path of each value that was met (`lead`, `priorities.review`), with its line.
    """

    def __init__(self) -> None:
        self.values: Values = {}
        self.problems: list[ConfigProblem] = []
        self.misread: set[str] = set()
        self.is_yaml = True
        self.lines: dict[str, int] = {}

    def read(self, text: str) -> None:
        """Read the values in the text of a settings file."""
        try:
            whole = read_outline(text)
        except NotYamlError as error:
            self.is_yaml = False
            hint = "Correct the YAML. Settings that can be told apart count all the same."
            self.note(error.line, f"the settings are not YAML: {error}", hint)
            for part in outlines_of_parts(text):
                if isinstance(part, str):
                    self.misread.add(_SETTINGS_AT_TOP[part].key if part in _SETTINGS_AT_TOP else part)
                elif isinstance(part.value, dict):
                    self._read_part(part)
            self.misread |= {"lead", "agents"} - self.values.keys()
            return
        if whole.value is not None and not isinstance(whole.value, dict):
            self.note(1, "the settings must be a mapping of keys to values")
        elif whole.value is not None:
            self._read_part(whole)

    def _read_part(self, part: Outline) -> None:
        """Read the settings in a part of the text, or in all of it."""
        self.lines |= part.lines
        for path, line in part.repeated:
            self.note(line, f"{path} is given twice; the first one counts", "Keep one of the two.")
        for key, value in self._read_section(part.value, _SETTINGS_AT_TOP, "").items():
            if not self.is_yaml and key in self.values:  # two versions of it, as between the marks of a conflict
                self.misread.add(key)
            self.values.setdefault(key, value)

    def note(self, line: int, text: str, hint: str = "Correct the line.", code: str = "BAD_CONFIG") -> None:
        """Note a wrong value; its default counts."""
        self.problems.append(ConfigProblem(code, "error", line, text, hint))

    def _note_wrong(self, path: str, text: str, *more: str) -> None:
        self.note(self.lines.get(path, 0), text, *more)

    def _read_section(self, given: Mapping[str, Any], known: Mapping[str, Setting], path: str, **values: Any) -> Values:
        """Return the values of a mapping with these settings, beside those that are known already."""
        there = set(values)
        for word, value in given.items():
            setting, place = known.get(word), below(path, word)
            if setting is None:
                self._note_unknown(place, word, known)
                self._note_misplaced_queue(value, place)
                continue
            there.add(setting.key)
            if value is None:
                continue
            before = len(self.problems)
            read = self._read_value(value, setting, place)
            if read is not None:
                values.setdefault(setting.key, read)
            if not path and any(problem.severity == "error" for problem in self.problems[before:]):
                self.misread.add(setting.key)
        missing = [setting.key for setting in known.values() if setting.needed and setting.key not in there]
        if missing:
            self._note_wrong(path, f"{path} has no {' and no '.join(missing)}", f"Add {', '.join(missing)}.")
        return values

    def _note_unknown(self, path: str, word: str, known: Iterable[str]) -> None:
        hint = "Correct or remove it; 'team-console help settings' lists them all."
        text = f"unknown setting {path!r}{did_you_mean(word, known)}"
        self.problems.append(ConfigProblem("CONFIG_WARNING", "warning", self.lines[path], text, hint))

    def _note_misplaced_queue(self, value: Any, path: str) -> None:
        """Name a place of the queue below a key that is unknown: it is not used, and messages may wait there."""
        word = path.rpartition(".")[2]
        if word in QUEUE_PLACES:
            self.misread.add(word)
            hint = "Put it at the top of the settings, outside of any section; until then the usual place is used."
            self._note_wrong(path, f"{path} stands where it is not read", hint)
        elif isinstance(value, dict):
            for key, inner in value.items():
                self._note_misplaced_queue(inner, below(path, key))

    def _read_value(self, given: Any, setting: Setting, path: str) -> Any:
        """Return the value of one setting, None when it is wrong."""
        known = {word: field for field in setting.fields for word in field.keys}
        value: Any = None
        match setting.form:
            case ValueForm.MEMBERS if isinstance(given, list):
                value = self._read_member_list(given, known, path)
            case ValueForm.MEMBERS if not isinstance(given, dict):
                self._note_wrong(path, f"{path} must be a list of members")
            case ValueForm.SECTION | ValueForm.VALUES | ValueForm.ENTRIES if not isinstance(given, dict):
                self._note_wrong(path, f"{path} must be a mapping of keys to values")
            case ValueForm.SECTION:
                value = self._read_section(given, known, path)
            case ValueForm.VALUES:
                value = self._read_values(given, setting, path)
            case ValueForm.ENTRIES | ValueForm.MEMBERS:
                value = self._read_entries(given, known, path)
            case ValueForm.COMMAND if isinstance(given, str):
                try:
                    value = tuple(shlex.split(given)) or None
                except ValueError as error:
                    self._note_wrong(
                        path, f"{path}: {str(error).lower()}", "Write the command and its arguments as a list."
                    )
            case ValueForm.TEXTS | ValueForm.RULES | ValueForm.KEYS | ValueForm.COMMAND if not isinstance(given, dict):
                items = (
                    {path: given} if isinstance(given, str) else {f"{path}[{at}]": one for at, one in enumerate(given)}
                )
                read = [self._read_scalar(item, setting, place) for place, item in items.items()]
                value = tuple(item for item in read if item is not None)
            case _:
                value = self._read_scalar(given, setting, path)
        return frozenset() if value is None and setting.closed else value

    def _read_values(self, given: Mapping[str, Any], setting: Setting, path: str) -> Values:
        """Return the value of each name in a mapping."""
        values: Values = {}
        for word, value in given.items():
            place = below(path, word)
            if setting.choices and word not in setting.choices:
                self._note_unknown(place, word, setting.choices)
            elif value is not None and (read := self._read_scalar(value, setting.fields[0], place)) is not None:
                values[word] = read
        return values

    def _read_entries(self, given: Mapping[str, Any], known: Mapping[str, Setting], path: str) -> Values:
        """Return the section of each name in a mapping; of a member the name is a part of it."""
        entries: Values = {}
        for word, value in given.items():
            place = below(path, word)
            name = self._read_scalar(word, known.get("name", _ENTRY_NAME), place)
            if not isinstance(value, dict | None):
                self._note_wrong(place, f"{place} must be a mapping of keys to values")
            elif name is not None:
                own_name = {"name": name} if "name" in known else {}
                fields = self._read_section(value or {}, known, place, **own_name)
                if all(setting.key in fields for setting in known.values() if setting.needed):
                    entries.setdefault(name, fields)
        return entries

    def _read_member_list(self, given: Iterable[Any], known: Mapping[str, Setting], path: str) -> Values:
        """Return the members in a list, by name: each a name or a section."""
        members: Values = {}
        for number, item in enumerate(given):
            place = f"{path}[{number}]"
            if isinstance(item, dict):
                fields = self._read_section(item, known, place)
            else:
                fields = {"name": self._read_scalar(item, known["name"], place)}
            name = fields.get("name")
            if name in members:
                self._note_wrong(
                    place, f"{path}: {name!r} is listed twice; the first one counts", "Keep one of the two."
                )
            elif name is not None:
                members[name] = fields
        return members

    def _read_scalar(self, given: Any, setting: Setting, path: str) -> Any:
        """Return the value of a single text for a setting; None when it is wrong."""
        try:
            return _parse_scalar(setting, given if isinstance(given, str) else "")
        except ValueError as error:
            self._note_wrong(path, f"{path}{error.args[0]}", *error.args[1:])
            return None


_ENTRY_NAME = Setting("", ValueForm.TEXT, "")


def _parse_scalar(setting: Setting, text: str) -> Any:
    """Return the value that a text means for a setting.

    Raises:
        ValueError: What is wrong with it, the next step, and the code of the finding, where they are not the usual.
    """
    value: Any = text
    match setting.form if text else None:
        case None:
            raise ValueError(f" must be {setting.form}")
        case ValueForm.NAME:
            value = as_name(text)
            if value is None or value == ALL:
                raise ValueError(f": {text!r} is not a usable name", RULE)
        case ValueForm.WORD if text not in setting.choices:
            ask = did_you_mean(text, setting.choices)
            raise ValueError(f": {text!r} is none of {', '.join(setting.choices)}{ask}")
        case ValueForm.RULES if trouble := rule_trouble(text):
            raise ValueError(f": {trouble}")
        case ValueForm.KEYS:
            try:
                key_bytes(text)
            except ValueError as error:
                hint = "Copy the whole line of a file such as ~/.ssh/id_ed25519.pub."
                raise ValueError(f": {error}", hint, "BAD_KEY") from error
            value = " ".join(text.split())
        case ValueForm.FLAG:
            value = _FLAGS.get(text.lower())
        case ValueForm.COUNT | ValueForm.SECONDS:
            try:
                value = convert(text, _COUNT if setting.form is ValueForm.COUNT else _SECONDS, strict=False)
            except ValidationError:
                value = None
        case ValueForm.MOMENT if (value := from_text(text)) is None:
            raise ValueError(f" must be {setting.form}, not {text!r}", "For example 2026-11-22T08:00:00Z.")
    if value is None:
        raise ValueError(f" must be {setting.form}, not {text!r}")
    return value


def rule_trouble(text: str) -> str:
    """Say why `text` names no action that can be asked for; empty when it names one."""
    if text.startswith("Write("):
        return f"{text!r} matches nothing in Claude Code: write Edit{text.removeprefix('Write')}"
    if text in ASK_WORDS or re.fullmatch(_RULE_OF_CLAUDE_CODE, text):
        return ""
    ask = did_you_mean(text, ASK_WORDS)
    return f"{text!r} is neither one of {', '.join(ASK_WORDS)} nor a rule such as 'Bash(make deploy:*)'{ask}"


# Problems of settings: their codes, and what is wrong in a file as findings with the line.

SETTINGS_LOST = "SETTINGS_LOST"
"""Code of the problem that settings which were in force are gone, emptied or cut."""
SETTINGS_UNREADABLE = "SETTINGS_UNREADABLE"
"""Code of the problem that the settings cannot be read, or do not say who leads and who is a member though they may."""


def config_problems(config: TeamConfig, source: str) -> tuple[Problem, ...]:
    """Return the faults of the settings in `source`, as findings with the line."""
    return tuple(
        Problem(
            problem.code,
            problem.severity,
            f"{source}:{problem.line}" if problem.line else source,
            problem.message,
            problem.hint,
        )
        for problem in config.problems
    )
