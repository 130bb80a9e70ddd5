"""Reads the YAML of the settings by their table: what is unknown or wrong is noted with its line, and never fatal."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from itertools import pairwise
from typing import Any

from msgspec import Struct
from team_console.store.model.clock import from_text
from team_console.store.model.errors import Problem
from team_console.store.model.message import Priority
from team_console.store.model.names import ALL, RULE, as_name, did_you_mean
from team_console.store.settings.team_config import (
    ASK_FOR,
    ASK_WORDS,
    OVERDUE_SECONDS,
    QUEUE_PLACES,
    ConfigProblem,
    TeamConfig,
    key_bytes,
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
    Setting("ask_for", ValueForm.RULES, "which of its actions come to the human's desk", default="the team's"),
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

TABLE: tuple[Setting, ...] = (
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
        "actions that come to the human's desk even where a client asks nobody",
        choices=ASK_WORDS,
        default=", ".join(ASK_FOR),
    ),
    Setting("retention", ValueForm.SECTION, "how long messages stay", fields=RETENTION),
    Setting("limits", ValueForm.SECTION, "how large messages may be", fields=LIMITS),
    Setting(
        "overdue_seconds",
        ValueForm.VALUES,
        "how long a request may stay open before it is overdue",
        fields=(_WAIT,),
        choices=tuple(OVERDUE_SECONDS),
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
        "standard handoffs, offered when composing and checked when sent",
        also=("routes",),
        fields=_ROUTE,
        values="ROUTE",
        default="the eight standard ones",
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
    for setting in TABLE:
        yield setting.key, setting
        between = {ValueForm.MEMBERS: "[]", ValueForm.ENTRIES: f".{setting.values}"}.get(setting.form, "")
        for inner in setting.fields if setting.form is not ValueForm.VALUES else ():
            yield f"{setting.key}{between}.{inner.key}", inner


_CLIENT_RULE = re.compile(r"(?:[A-Z]\w*(?:\(.+\))?|mcp__[\w.*-]+)", re.ASCII)
"""A permission rule of Claude Code, such as `Bash(make deploy:*)`."""
Values = dict[str, Any]
MAX_BYTES = 1_048_576
_DEPTH = 16
_NODES = 100_000
"""Values read at most, shared ones each time they are used: aliases of aliases end here."""
_TOP = {word: setting for setting in (*HOISTED, *TABLE) for word in setting.keys}
_TOP_KEY = re.compile(r"^(?=[^\s#\-\]}])", re.MULTILINE)
"""Where a line begins in the first column with something other than a comment, a list entry or a closing bracket."""
_MERGE = "tag:yaml.org,2002:merge"
_FLAGS = {**dict.fromkeys(("true", "yes", "on"), True), **dict.fromkeys(("false", "no", "off"), False)}
_LISTS = (ValueForm.TEXTS, ValueForm.RULES, ValueForm.KEYS, ValueForm.COMMAND)
_MAPPINGS = (ValueForm.SECTION, ValueForm.ENTRIES, ValueForm.VALUES, ValueForm.MEMBERS)


class SettingsReader:
    """Turns settings into checked values by key; a wrong value is left out, so that its default counts.

    Attributes:
        values: What was read.
        problems: What is wrong, in the order it was met.
        misread: Keys at the top that are there and could not be understood; in settings that are not YAML as a whole
            also lead and members that were not found, because they may be in the part that is not.
        lines: The path of each value that was met (`lead`, `priorities.review`), with its first line.
    """

    def __init__(self) -> None:
        self.values: Values = {}
        self.problems: list[ConfigProblem] = []
        self.misread: set[str] = set()
        self.is_yaml = True
        self.lines: dict[str, int] = {}
        self._nodes = 0
        self._shift = 0

    def read(self, text: str) -> None:
        """Read the values in the text of a settings file."""
        whole, problem = _compose(text)
        self.is_yaml = problem is None
        if problem is not None:
            hint = "Correct the YAML. Settings that can be told apart count all the same."
            self.note(problem[0] + 1, f"this is not YAML: {problem[1]}", hint)
        for lines, node in self._parts(text) if problem is not None else [(0, whole)]:
            self._shift = lines
            if node is not None and node.id != "mapping":
                self._wrong(node, "the settings must be a mapping of keys to values")
                continue
            for key, value in self._section(node, _TOP, "").items() if node is not None else ():
                if problem is not None and key in self.values:  # two versions of it, as between the marks of a conflict
                    self.misread.add(key)
                self.values.setdefault(key, value)
        if problem is not None:
            self.misread |= {"lead", "agents"} - self.values.keys()

    def _parts(self, text: str) -> Iterator[tuple[int, Any]]:
        """Yield each setting at the top of a text that is not YAML as a whole, with its lines before."""
        for start, end in pairwise([*(match.start() for match in _TOP_KEY.finditer(text)), len(text)]):
            part = text[start:end]
            node, problem = _compose(part)
            if problem is not None:  # lines that belong to nothing may follow a setting of one line
                node, _ = _compose(part.partition("\n")[0])
                if getattr(node, "id", "") != "mapping" or not node.value or _is_empty(node.value[0][1]):
                    node = None
            if node is None:
                word = part.partition(":")[0].strip().strip("'\"")
                self.misread.add(_TOP[word].key if word in _TOP else word)
            elif node.id == "mapping":
                yield text.count("\n", 0, start), node

    def note(self, line: int, text: str, hint: str = "Correct the line.", code: str = "BAD_CONFIG") -> None:
        """Note a wrong value; its default counts."""
        self.problems.append(ConfigProblem(code, "error", line, text, hint))

    def _wrong(self, node: Any, text: str, *more: str) -> None:
        self.note(self._line(node), text, *more)

    def _line(self, node: Any) -> int:
        return int(node.start_mark.line) + 1 + self._shift

    def _section(self, node: Any, known: Mapping[str, Setting], place: str, **values: Any) -> Values:
        """Return the values of a mapping with these settings, beside those that are known already."""
        given: set[str] = set()
        for word, key, value in self._pairs(node, place):
            setting = known.get(word)
            if setting is None:
                self._unknown(key, f"{place}{word}", word, known)
                self._look_for_places(value, f"{place}{word}")
                continue
            given.add(setting.key)
            if _is_empty(value):
                continue
            before = len(self.problems)
            if (read := self._value(value, setting, f"{place}{setting.key}")) is not None:
                values.setdefault(setting.key, read)
            if not place and any(problem.severity == "error" for problem in self.problems[before:]):
                self.misread.add(setting.key)
        there = given | values.keys()
        missing = [setting.key for setting in known.values() if setting.needed and setting.key not in there]
        if missing:
            self._wrong(node, f"{place.rstrip('.')} has no {' and no '.join(missing)}", f"Add {', '.join(missing)}.")
        return values

    def _pairs(self, node: Any, place: str) -> Iterator[tuple[str, Any, Any]]:
        """Yield the entries of a mapping, merged ones last; a key that stands twice counts the first time."""
        own: list[Any] = []
        merged: list[Any] = []
        seen: set[str] = set()
        for key, value in node.value if node.id == "mapping" else ():
            if key.tag != _MERGE:
                own.append((key, value))
                continue
            sources = value.value if value.id == "sequence" else [value]
            merged += [pair for source in sources[:_DEPTH] if source.id == "mapping" for pair in source.value]
        for number, (key, value) in enumerate([*own, *merged]):
            word = key.value if isinstance(key.value, str) else ""
            if word not in seen:
                seen.add(word)
                yield word, key, value
            elif number < len(own):
                self._wrong(key, f"{place}{word} is given twice; the first one counts", "Keep one of the two.")

    def _unknown(self, key: Any, path: str, word: str, known: Iterable[str]) -> None:
        hint = "Correct or remove it; 'team-console help settings' lists them all."
        text = f"unknown setting {path!r}{did_you_mean(word, known)}"
        self.problems.append(ConfigProblem("CONFIG_WARNING", "warning", self._line(key), text, hint))

    def _look_for_places(self, node: Any, path: str) -> None:
        """Name a place of the queue below a key that is unknown: it is not used, and messages may wait there."""
        if (word := path.rpartition(".")[2]) in QUEUE_PLACES:
            self.misread.add(word)
            hint = "Put it at the top of the settings, outside of any section; until then the usual place is used."
            self._wrong(node, f"{path} stands where it is not read", hint)
        elif node.id == "mapping":
            self._nodes += len(node.value)  # aliases could make few lines a tree without an end
            for key, value in node.value if self._nodes <= _NODES else ():
                self._look_for_places(value, f"{path}.{key.value}")

    def _value(self, node: Any, setting: Setting, place: str) -> Any:
        """Return the value of one setting, None when it is wrong."""
        self._nodes += 1
        if self._nodes > _NODES:
            return None
        self.lines.setdefault(place, self._line(node))
        known = {word: field for field in setting.fields for word in field.keys}
        value: Any = None
        if setting.form is ValueForm.MEMBERS and node.id == "sequence":
            value = self._listed(node, known, place)
        elif setting.form in _MAPPINGS and node.id != "mapping":
            form = "list of members" if setting.form is ValueForm.MEMBERS else "mapping of keys to values"
            self._wrong(node, f"{place} must be a {form}")
        elif setting.form is ValueForm.SECTION:
            value = self._section(node, known, f"{place}.")
        elif setting.form is ValueForm.VALUES:
            value = self._values(node, setting, place)
        elif setting.form in _MAPPINGS:
            value = self._entries(node, known, place)
        elif setting.form not in _LISTS or node.id == "mapping":
            value = self._single(node, setting, place)
        elif setting.form is ValueForm.COMMAND and node.id == "scalar":
            try:
                value = tuple(shlex.split(str(node.value))) or None
            except ValueError as error:
                self._wrong(node, f"{place}: {str(error).lower()}", "Write the command and its arguments as a list.")
        else:
            read = [self._single(item, setting, place) for item in ([node] if node.id == "scalar" else node.value)]
            value = tuple(item for item in read if item is not None)
        return frozenset() if value is None and setting.closed else value

    def _values(self, node: Any, setting: Setting, place: str) -> Values:
        """Return the value of each name in a mapping."""
        values: Values = {}
        for word, key, value in self._pairs(node, f"{place}."):
            path = f"{place}.{word}"
            if setting.choices and word not in setting.choices:
                self._unknown(key, path, word, setting.choices)
            elif not _is_empty(value) and (read := self._value(value, setting.fields[0], path)) is not None:
                values[word] = read
        return values

    def _entries(self, node: Any, known: Mapping[str, Setting], place: str) -> Values:
        """Return the section of each name in a mapping; of a member the name is a part of it."""
        entries: Values = {}
        for word, key, value in self._pairs(node, f"{place}."):
            name = self._single(key, known.get("name", _ENTRY_NAME), place)
            if not (value.id == "mapping" or _is_empty(value)):
                self._wrong(value, f"{place}.{word} must be a mapping of keys to values")
            elif name is not None:
                given = {"name": name} if "name" in known else {}
                fields = self._section(value, known, f"{place}.{word}.", **given)
                if all(setting.key in fields for setting in known.values() if setting.needed):
                    entries.setdefault(name, fields)
        return entries

    def _listed(self, node: Any, known: Mapping[str, Setting], place: str) -> Values:
        """Return the members in a list, by name: each a name or a section."""
        members: Values = {}
        for item in node.value:
            if item.id == "mapping":
                fields = self._section(item, known, f"{place}[].")
            else:
                fields = {"name": self._single(item, known["name"], place)}
            name = fields.get("name")
            if name in members:
                self._wrong(item, f"{place}: {name!r} is listed twice; the first one counts", "Keep one of the two.")
            elif name is not None:
                members[name] = fields
        return members

    def _single(self, node: Any, setting: Setting, place: str) -> Any:
        """Return the value of a single text for a setting; None when it is wrong."""
        try:
            return _meaning(setting, node.value if node.id == "scalar" else "")
        except ValueError as error:
            self._wrong(node, f"{place}{error.args[0]}", *error.args[1:])
            return None


_ENTRY_NAME = Setting("", ValueForm.TEXT, "")


def _compose(text: str) -> tuple[Any, tuple[int, str] | None]:
    """Return the text as a node, or the line and words of what is wrong with it."""
    import yaml  # 14 ms, and a team without settings needs none of it

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    depth = 0
    try:
        for event in yaml.parse(text, loader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _DEPTH:
                return None, (_line_of(event.start_mark), f"nesting deeper than {_DEPTH}")
        return yaml.compose(text, loader), None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        words = getattr(error, "problem", None) or getattr(error, "reason", None) or "not YAML"
        return None, (_line_of(mark), str(words))


def _line_of(mark: Any) -> int:
    return 0 if mark is None else int(mark.line)


def _meaning(setting: Setting, text: str) -> Any:
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
        case ValueForm.COUNT:
            value = _number(int, text, 10**12)
        case ValueForm.SECONDS:
            value = _number(float, text, 10**9)
        case ValueForm.MOMENT if (value := from_text(text)) is None:
            raise ValueError(f" must be {setting.form}, not {text!r}", "For example 2026-11-22T08:00:00Z.")
    if value is None:
        raise ValueError(f" must be {setting.form}, not {text!r}")
    return value


def _number(kind: Callable[[str], float], text: str, end: float) -> float | None:
    try:
        return number if 0 < (number := kind(text)) < end else None
    except ValueError:
        return None


def rule_trouble(text: str) -> str:
    """Say why `text` names no action that can be asked for; empty when it names one."""
    if text.startswith("Write("):
        return f"{text!r} matches nothing in Claude Code: write Edit{text.removeprefix('Write')}"
    if text in ASK_WORDS or _CLIENT_RULE.fullmatch(text):
        return ""
    ask = did_you_mean(text, ASK_WORDS)
    return f"{text!r} is neither one of {', '.join(ASK_WORDS)} nor a rule such as 'Bash(make deploy:*)'{ask}"


def _is_empty(node: Any) -> bool:
    return node.id == "scalar" and not node.style and node.value in ("", "~", "null")


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
