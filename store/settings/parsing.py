"""Reads the YAML of the settings by their table: what is unknown or wrong is noted with its line, and never fatal."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
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
        default: What counts without it, where that is not a plain value of `TeamConfig` or `Agent`.
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
        *("plan_mode_required", ValueForm.FLAG, "it hands in a plan and works only after its approval"),
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
    Setting("agent_type", ValueForm.TEXT, "kept for other programs", default="none"),
    Setting("description", ValueForm.TEXT, "kept for people", default="none"),
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
    Setting("description", ValueForm.TEXT, "what the kind is for", default="none"),
    Setting("required_fields", ValueForm.TEXTS, "fields that `send` refuses the kind without", default="none"),
    Setting(
        "priority", ValueForm.WORD, "its priority where none is given", choices=PRIORITIES, default="the kind's own"
    ),
)
_ROUTE = (
    Setting("trigger", ValueForm.TEXT, "when the handoff is due", default="none"),
    Setting("from", ValueForm.NAME, "who hands over", default="needed", needed=True),
    Setting("to", ValueForm.NAME, "who takes over", default="needed", needed=True),
    Setting(
        "payload", ValueForm.TEXTS, "fields that the handoff carries; `send` warns of missing ones", default="none"
    ),
)
_HUMAN = (
    Setting("keys", ValueForm.KEYS, "the public keys that may sign its verdicts", default="none"),
    Setting(
        *("sign_with", ValueForm.TEXT, "file of the key to sign with on this machine, private or public"),
        default="the one in `~/.ssh` or in the agent",
    ),
)
_WAIT = Setting("seconds", ValueForm.SECONDS, "seconds")

TABLE: tuple[Setting, ...] = (
    Setting("team", ValueForm.NAME, "the team's name, part of request ids", also=("name",), default="team"),
    Setting(
        *("lead", ValueForm.NAME, "who answers plans and may ask for shutdowns"),
        also=("master",),
        default="the member with role master, else user",
    ),
    Setting(
        *("agents", ValueForm.MEMBERS, "the members; with a list other names are refused"),
        also=("members",),
        fields=MEMBER,
        default="whoever writes and is written to",
    ),
    Setting(
        "language", ValueForm.WORD, "the language of summaries, and of words written into messages", choices=LANGUAGES
    ),
    Setting(
        *(
            "wait_for_human",
            ValueForm.WORD,
            "when a client's hook waits for an answer; `present`: while a console is open",
        ),
        choices=WAITS,
    ),
    Setting(
        *(
            "ask_for",
            ValueForm.RULES,
            "actions that come to the human's desk even where a client asks nobody",
        ),
        choices=ASK_WORDS,
        default=", ".join(ASK_FOR),
    ),
    Setting("retention", ValueForm.SECTION, "how long messages stay", fields=RETENTION),
    Setting("limits", ValueForm.SECTION, "how large messages may be", fields=LIMITS),
    Setting(
        *("overdue_seconds", ValueForm.VALUES, "how long a request may stay open before it is overdue"),
        fields=(_WAIT,),
        choices=tuple(OVERDUE_SECONDS),
        values="KIND OF REQUEST",
        default=", ".join(f"{kind} {seconds:g}" for kind, seconds in OVERDUE_SECONDS.items()),
    ),
    Setting(
        *("message_types", ValueForm.ENTRIES, "rules for kinds of message, your own kinds included"),
        fields=_KIND,
        values="KIND",
        default="none",
    ),
    Setting(
        *(
            "priorities",
            ValueForm.VALUES,
            "the order of the priorities (critical: 1), or a kind's priority (review: high)",
        ),
        fields=(Setting("priority", ValueForm.TEXT, "a priority or a number"),),
        values="PRIORITY or KIND",
        default="critical, high, medium, low",
    ),
    Setting(
        *("routing", ValueForm.ENTRIES, "standard handoffs, offered when composing and checked when sent"),
        also=("routes",),
        fields=_ROUTE,
        values="ROUTE",
        default="the eight standard ones",
    ),
    Setting(
        *("humans", ValueForm.ENTRIES, "who of the team is a human, and which SSH keys sign that human's verdicts"),
        fields=_HUMAN,
        values="NAME",
        default="the lead and `user`, without keys",
    ),
    Setting(
        *("verdicts", ValueForm.WORD, "`signed`: only a verdict that its human signed decides"),
        choices=VERDICTS,
        default="signed once a human has keys, else open",
        closed=True,
    ),
    Setting("team_id", ValueForm.TEXT, "what signed verdicts name the team by", default="made with the first of them"),
    Setting(
        *("signed_since", ValueForm.MOMENT, "verdicts from before then need no signature, if the audit trail has them"),
        default="every verdict needs one",
    ),
    Setting("spawn", ValueForm.COMMAND, "runs when a creation request is approved", default="nothing"),
    Setting("key_file", ValueForm.TEXT, "file of the key that signs messages, readable by you alone", default="no key"),
    Setting("queue_dir", ValueForm.TEXT, "folder of the queue, inside the project", default="see `help files`"),
    Setting("queue_file", ValueForm.TEXT, "the queue", default="{queue_dir}/message-queue.yaml"),
    Setting("archive_dir", ValueForm.TEXT, "folder of the archives, inside the project", default="{queue_dir}/archive"),
    Setting("version", ValueForm.TEXT, "kept for people", default="none"),
    Setting("description", ValueForm.TEXT, "kept for people", default="none"),
)
HOISTED = (*RETENTION, *LIMITS)
"""Settings of a section that may also stand at the top."""


def every_setting() -> Iterator[tuple[str, Setting]]:
    """Each setting with its path (`agents[].role`, `message_types.KIND.priority`), as the reference lists them."""
    for setting in TABLE:
        yield setting.key, setting
        between = {ValueForm.MEMBERS: "[]", ValueForm.ENTRIES: f".{setting.values}"}.get(setting.form, "")
        for inner in setting.fields if setting.form is not ValueForm.VALUES else ():
            yield f"{setting.key}{between}.{inner.key}", inner


Values = dict[str, Any]
MAX_BYTES = 1_048_576
_DEPTH = 16
_NODES = 100_000
"""Values read at most, shared ones each time they are used: aliases of aliases end here."""
_TOP_KEY = re.compile(r"^(?=[^\s#\-\]}])", re.MULTILINE)
"""Where a line begins in the first column with something other than a comment, a list entry or a closing bracket."""
_FLAGS = {**dict.fromkeys(("true", "yes", "on"), True), **dict.fromkeys(("false", "no", "off"), False)}


class SettingsReader:
    """Turns settings into checked values by key; a wrong value is left out, so that its default counts.

    Attributes:
        problems: What is wrong, in the order it was met.
        misread: Keys at the top that are there and could not be understood; in settings that are not YAML as a whole
            also lead and members that were not found, because they may be in the part that is not.
        lines: Key at the top, and each name in a mapping of values (`priorities.review`), with its line.
    """

    def __init__(self) -> None:
        self.problems: list[ConfigProblem] = []
        self.misread: set[str] = set()
        self.lines: dict[str, int] = {}
        self._nodes = 0
        self._shift = 0
        self._is_broken = False

    def read(self, text: str) -> Values:
        """The values in the text of a settings file."""
        values: Values = {}
        for node, lines in self._documents(text):
            self._shift = lines
            if getattr(node, "id", "") != "mapping":
                self.wrong(node, "the settings must be a mapping of keys to values")
                continue
            for key, value in self.section(node, TABLE, "", more=HOISTED).items():
                if self._is_broken and key in values:  # two versions of one setting, as between the marks of a conflict
                    self.misread.add(key)
                values.setdefault(key, value)
        if self._is_broken:
            self.misread |= {"lead", "agents"} - values.keys()
        return values

    def _documents(self, text: str) -> Iterator[tuple[Any, int]]:
        """The whole as one node; when it is not YAML, each top-level setting that is, with its lines before."""
        node, problem = self._compose(text)
        if problem is None:
            if node is not None:
                yield node, 0
            return
        line, words = problem
        self._is_broken = True
        hint = "Correct the YAML. Settings that can be told apart count all the same."
        self.problems.append(ConfigProblem("BAD_CONFIG", "error", line + 1, f"this is not YAML: {words}", hint))
        starts = [match.start() for match in _TOP_KEY.finditer(text)]
        for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
            part, lines = text[start:end], text.count("\n", 0, start)
            node, problem = self._compose(part)
            if problem is not None:  # lines that belong to nothing may follow a setting of one line
                node, problem = self._compose(part.partition("\n")[0])
                node = (
                    node
                    if (getattr(node, "id", "") == "mapping" and bool(node.value) and not _is_empty(node.value[0][1]))
                    else None
                )
            if problem is not None or node is None:
                word = part.partition(":")[0].strip().strip("'\"")
                known = next((setting.key for setting in TABLE if word in setting.keys), None)
                self.misread.add(known or word)
            elif getattr(node, "id", "") == "mapping":
                yield node, lines

    def _compose(self, text: str) -> tuple[Any, tuple[int, str] | None]:
        """The text as a node, or the line and words of what is wrong with it."""
        import yaml  # 14 ms, and a team without settings needs none of it

        loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        try:
            depth = 0
            for event in yaml.parse(text, loader):
                depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
                if depth > _DEPTH:
                    return None, (_parsing_line(event.start_mark), f"nesting deeper than {_DEPTH}")
            return yaml.compose(text, loader), None
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            words = getattr(error, "problem", None) or getattr(error, "reason", None) or "not YAML"
            return None, (_parsing_line(mark), str(words))

    def wrong(self, node: Any, text: str, hint: str = "Correct the line.") -> None:
        """Note a wrong value; its default counts."""
        self.problems.append(ConfigProblem("BAD_CONFIG", "error", self.line(node), text, hint))

    def line(self, node: Any) -> int:
        """The line of a node, from 1."""
        return int(node.start_mark.line) + 1 + self._shift

    def section(self, node: Any, settings: Sequence[Setting], place: str, more: Sequence[Setting] = ()) -> Values:
        """The values of a mapping whose keys are `settings`; each of `more` may stand there as well."""
        known = {word: setting for setting in (*more, *settings) for word in setting.keys}
        values: Values = {}
        for word, key, value in self._pairs(node, place):
            setting = known.get(word)
            if setting is None:
                self._unknown(key, f"{place}{word}", word, known)
                self._look_for_places(value, f"{place}{word}")
            elif not _is_empty(value):
                self._put(values, setting, value, place)
        return values

    def _put(self, values: Values, setting: Setting, node: Any, place: str) -> None:
        before = len(self.problems)
        if not place:
            self.lines.setdefault(setting.key, self.line(node))
        value = self.value(node, setting, f"{place}{setting.key}")
        if value is not None and setting.key not in values:
            values[setting.key] = value
        if (
            not place
            and len(self.problems) > before
            and any(problem.severity == "error" for problem in self.problems[before:])
        ):
            self.misread.add(setting.key)

    def value(self, node: Any, setting: Setting, place: str) -> Any:
        """The value of one setting, None when it is wrong."""
        self._nodes += 1
        if self._nodes > _NODES:
            return None
        read: Callable[[Any, Setting, str], Any] = getattr(self, f"_{setting.form.name.lower()}", self._told)
        value = read(node, setting, place)
        return frozenset() if value is None and setting.closed else value

    def _pairs(self, node: Any, place: str) -> Iterator[tuple[str, Any, Any]]:
        """The entries of a mapping, merged ones last; a key that stands twice counts the first time."""
        seen: set[str] = set()
        merged: list[Any] = []
        for key, value in node.value:
            if key.tag == "tag:yaml.org,2002:merge":
                merged += value.value if value.id == "sequence" else [value]
                continue
            word = key.value if isinstance(key.value, str) else ""
            if word in seen:
                self.wrong(key, f"{place}{word} is given twice; the first one counts", "Keep one of the two.")
                continue
            seen.add(word)
            yield word, key, value
        for source in merged[:_DEPTH]:
            for key, value in source.value if source.id == "mapping" else ():
                if isinstance(key.value, str) and key.value not in seen:
                    seen.add(key.value)
                    yield key.value, key, value

    def _unknown(self, key: Any, path: str, word: str, known: Mapping[str, Any]) -> None:
        hint = "Correct or remove it; 'team-console help settings' lists them all."
        text = f"unknown setting {path!r}{did_you_mean(word, known)}"
        self.problems.append(ConfigProblem("CONFIG_WARNING", "warning", self.line(key), text, hint))

    def _look_for_places(self, node: Any, path: str) -> None:
        """Name a place of the queue below a key that is unknown: it is not used, and messages may wait there."""
        if path.rpartition(".")[2] in QUEUE_PLACES:
            self.misread.add(path.rpartition(".")[2])
            hint = "Put it at the top of the settings, outside of any section; until then the usual place is used."
            self.wrong(node, f"{path} stands where it is not read", hint)
        elif node.id == "mapping":
            self._nodes += len(node.value)  # aliases could make few lines a tree without an end
            for key, value in node.value if self._nodes <= _NODES else ():
                self._look_for_places(value, f"{path}.{key.value}")

    def _mapping(self, node: Any, place: str) -> bool:
        if node.id == "mapping":
            return True
        self.wrong(node, f"{place} must be a mapping of keys to values")
        return False

    def _section(self, node: Any, setting: Setting, place: str) -> Values | None:
        return self.section(node, setting.fields, f"{place}.") if self._mapping(node, place) else None

    def _entries(self, node: Any, setting: Setting, place: str) -> dict[str, Values] | None:
        if not self._mapping(node, place):
            return None
        entries: dict[str, Values] = {}
        for word, key, value in self._pairs(node, f"{place}."):
            if not word:
                self.wrong(key, f"{place}: a name is missing")
            elif _is_empty(value):
                entries[word] = {}
            elif self._mapping(value, f"{place}.{word}"):
                fields = self.section(value, setting.fields, f"{place}.{word}.")
                if self._complete(value, setting.fields, fields, f"{place}.{word}"):
                    entries[word] = fields
        return entries

    def _complete(self, node: Any, settings: Sequence[Setting], values: Values, place: str) -> bool:
        """Whether everything needed is there; what is there and wrong was told before."""
        missing = [setting for setting in settings if setting.needed and setting.key not in values]
        given = {key.value for key, _ in node.value if isinstance(key.value, str)}
        for setting in missing:
            if given.isdisjoint(setting.keys):
                self.wrong(node, f"{place} has no {setting.key!r}", f"Add {setting.key}.")
        return not missing

    def _values(self, node: Any, setting: Setting, place: str) -> Values | None:
        if not self._mapping(node, place):
            return None
        values: Values = {}
        for word, key, value in self._pairs(node, f"{place}."):
            if setting.choices and word not in setting.choices:
                self._unknown(key, f"{place}.{word}", word, dict.fromkeys(setting.choices))
            elif not _is_empty(value) and (read := self.value(value, setting.fields[0], f"{place}.{word}")) is not None:
                values[word] = read
                self.lines[f"{place}.{word}"] = self.line(value)
        return values

    def _members(self, node: Any, setting: Setting, place: str) -> dict[str, Values] | None:
        if node.id == "scalar":
            self.wrong(node, f"{place} must be a list of members")
            return None
        members: dict[str, Values] = {}
        for at, fields in self._each_member(node, setting.fields):
            name = fields.get("name")
            if name in members:
                self.wrong(at, f"{place}: {name!r} is listed twice; the first one counts", "Keep one of the two.")
            elif name is not None:
                members[name] = fields
        return members

    def _each_member(self, node: Any, settings: Sequence[Setting]) -> Iterator[tuple[Any, Values]]:
        name = settings[0]
        if node.id == "mapping":
            for word, key, value in self._pairs(node, "agents."):
                known = self.value(key, name, "agents")
                if known is not None and (_is_empty(value) or self._mapping(value, f"agents.{word}")):
                    fields = {} if _is_empty(value) else self.section(value, settings, f"agents.{word}.")
                    yield key, {**fields, "name": known}
            return
        for item in node.value:
            if item.id == "scalar":
                yield item, {"name": self.value(item, name, "agents")}
            elif self._mapping(item, "a member"):
                fields = self.section(item, settings, "agents[].")
                if self._complete(item, settings, fields, "a member"):
                    yield item, fields

    def _name(self, node: Any, setting: Setting, place: str) -> str | None:
        text = self._text(node, setting, place)
        name = as_name(text)
        if text is None or (name is not None and name != ALL):
            return name
        self.wrong(node, f"{place}: {text!r} is not a usable name", RULE)
        return None

    def _text(self, node: Any, setting: Setting, place: str) -> str | None:
        if node.id == "scalar" and node.value:
            return str(node.value)
        self.wrong(node, f"{place} must be {setting.form}")
        return None

    def _word(self, node: Any, setting: Setting, place: str) -> str | None:
        text = self._text(node, setting, place)
        if text is None or text in setting.choices:
            return text
        ask = did_you_mean(text, setting.choices)
        self.wrong(node, f"{place}: {text!r} is none of {', '.join(setting.choices)}{ask}")
        return None

    def _told(self, node: Any, setting: Setting, place: str) -> Any:
        """What its form makes of the text; a text of which it makes nothing is wrong."""
        text = self._text(node, setting, place)
        value = _SINGLE[setting.form.name.lower()](text) if text is not None else None
        if text is not None and value is None:
            hint = "For example 2026-11-22T08:00:00Z." if setting.form is ValueForm.MOMENT else "Correct the line."
            self.wrong(node, f"{place} must be {setting.form}, not {text!r}", hint)
        return value

    def _texts(self, node: Any, setting: Setting, place: str) -> tuple[str, ...] | None:
        if node.id == "mapping":
            self.wrong(node, f"{place} must be {setting.form}")
            return None
        items = [node] if node.id == "scalar" else node.value
        texts = [self.value(item, _TEXT, place) for item in items]
        return tuple(text for text in texts if text is not None)

    def _rules(self, node: Any, setting: Setting, place: str) -> tuple[str, ...] | None:
        """Those of the actions that there are; what is none is told."""
        texts = self._texts(node, setting, place)
        for trouble in filter(None, map(rule_trouble, texts or ())):
            self.wrong(node, f"{place}: {trouble}")
        return None if texts is None else tuple(text for text in texts if not rule_trouble(text))

    def _keys(self, node: Any, setting: Setting, place: str) -> tuple[str, ...] | None:
        """Those of the lines that are public keys; what is none is told, and permits nothing."""
        texts = self._texts(node, setting, place)
        lines = [node.start_mark] if node.id == "scalar" else [item.start_mark for item in node.value]
        keys: list[str] = []
        for text, mark in zip(texts or (), lines, strict=False):
            try:
                key_bytes(text)
                keys.append(" ".join(text.split()))
            except ValueError as error:
                line = int(mark.line) + 1 + self._shift
                hint = "Copy the whole line of a file such as ~/.ssh/id_ed25519.pub."
                self.problems.append(ConfigProblem("BAD_KEY", "error", line, f"{place}: {error}", hint))
        return None if texts is None else tuple(keys)

    def _command(self, node: Any, setting: Setting, place: str) -> tuple[str, ...] | None:
        if node.id != "scalar":
            return self._texts(node, setting, place)
        try:
            return tuple(shlex.split(str(node.value))) or None
        except ValueError as error:
            self.wrong(node, f"{place}: {str(error).lower()}", "Write the command and its arguments as a list.")
            return None


_TEXT = Setting("", ValueForm.TEXT, "")
_CLIENT_RULE = re.compile(r"(?:[A-Z]\w*(?:\(.+\))?|mcp__[\w.*-]+)", re.ASCII)
"""A permission rule of Claude Code, such as `Bash(make deploy:*)`."""


def rule_trouble(text: str) -> str:
    """Say why `text` names no action that can be asked for; empty when it names one."""
    if text.startswith("Write("):
        return f"{text!r} matches nothing in Claude Code: write Edit{text.removeprefix('Write')}"
    if text in ASK_WORDS or _CLIENT_RULE.fullmatch(text):
        return ""
    ask = did_you_mean(text, ASK_WORDS)
    return f"{text!r} is neither one of {', '.join(ASK_WORDS)} nor a rule such as 'Bash(make deploy:*)'{ask}"


def _count(text: str) -> int | None:
    digits = text.replace("_", "")
    return int(digits) or None if digits.isascii() and digits.isdigit() and len(digits) <= 12 else None


def _seconds(text: str) -> float | None:
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if 0 < seconds < 1e9 else None


_SINGLE: Mapping[str, Callable[[str], object]] = {
    "flag": lambda text: _FLAGS.get(text.lower()),
    "count": _count,
    "seconds": _seconds,
    "moment": from_text,
}
"""What the text of a single value means by the name of its form, None for nothing."""


def _parsing_line(mark: Any) -> int:
    return 0 if mark is None else int(mark.line)


def _is_empty(node: Any) -> bool:
    return node.id == "scalar" and not node.style and node.value in ("", "~", "null")


# Problems of settings: their codes, and what is wrong in a file as findings with the line.

SETTINGS_LOST = "SETTINGS_LOST"
"""Code of the problem that settings which were in force are gone, emptied or cut."""
SETTINGS_UNREADABLE = "SETTINGS_UNREADABLE"
"""Code of the problem that the settings cannot be read, or do not say who leads and who is a member though they may."""


def config_problems(config: TeamConfig, source: str) -> tuple[Problem, ...]:
    """What is wrong in the settings that stand in `source`, as findings with the line."""
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
