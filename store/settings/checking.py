"""Read the YAML of the settings by their table: what is unknown or wrong is noted with its line, and never fatal."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from msgspec import Meta, ValidationError, convert
from team_console.store.model.clock import from_text
from team_console.store.model.names import ALL, RULE, as_name, did_you_mean
from team_console.store.settings.public_keys import key_bytes
from team_console.store.settings.table import HOISTED, SETTING_TABLE, Setting, ValueForm
from team_console.store.settings.team_config import ASK_WORDS, QUEUE_PLACES, ConfigProblem
from team_console.store.settings.yaml_parser import NotYamlError, ParsedYaml, parse_parts, parse_yaml, path_of

_RULE_OF_CLAUDE_CODE = r"(?a)(?:[A-Z]\w*(?:\(.+\))?|mcp__[\w.*-]+)"
"""A permission rule of Claude Code, such as `Bash(make deploy:*)`."""
Values = dict[str, Any]
"""Checked values of settings by key, of the types that `TeamConfig` takes."""
MAX_BYTES = 1_048_576
"""Bytes of the largest settings that are read."""
_SETTINGS_AT_TOP = {word: setting for setting in (*HOISTED, *SETTING_TABLE) for word in setting.keys}
"""Every setting that may stand at the top, by each of its words."""
_COUNT = Annotated[int, Meta(gt=0, lt=10**12)]
_SECONDS = Annotated[float, Meta(gt=0, lt=10**9)]
"""Numbers with a bound, below which no calculation with them fails."""
_TRUE_OR_FALSE = {**dict.fromkeys(("true", "yes", "on"), True), **dict.fromkeys(("false", "no", "off"), False)}


_OF_MAPPINGS = frozenset({ValueForm.SECTION, ValueForm.VALUES, ValueForm.ENTRIES, ValueForm.MEMBERS})
"""Forms of values that are mappings; members may be a list, too."""
_OF_LISTS = frozenset({ValueForm.TEXTS, ValueForm.RULES, ValueForm.KEYS, ValueForm.COMMAND})
"""Forms of values that are lists, in whose place one text may stand."""


class _WrongValueError(ValueError):
    """A text is no value of its setting.

    Attributes:
        text: What is wrong with it, as a sentence that goes on behind the path of the setting.
        hint: The next step.
        code: The code of the finding.
    """

    def __init__(self, text: str, hint: str = "Correct the line.", code: str = "BAD_CONFIG") -> None:
        super().__init__(text)
        self.text = text
        self.hint = hint
        self.code = code


class SettingsChecker:
    """Turns settings into checked values by key; a wrong value is left out, so that its default counts.

    Attributes:
        values: What was read.
        problems: What is wrong, in the order it was met.
        misread: Keys at the top that are there and could not be understood; in settings that are not YAML as a whole
            also lead and members that were not found, because they may be in the part that is not.
        is_yaml: Whether the text is YAML as a whole.
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
            whole = parse_yaml(text)
        except NotYamlError as error:
            self.is_yaml = False
            hint = "Correct the YAML. Settings that can be told apart count all the same."
            self._note_line(error.line, f"the settings are not YAML: {error}", hint)
            for part in parse_parts(text):
                if isinstance(part, str):
                    self.misread.add(_SETTINGS_AT_TOP[part].key if part in _SETTINGS_AT_TOP else part)
                elif isinstance(part.value, dict):
                    self._read_part(part)
            self.misread |= {"lead", "agents"} - self.values.keys()
            return
        if whole.value is not None and not isinstance(whole.value, dict):
            self._note_line(1, "the settings must be a mapping of keys to values")
        elif whole.value is not None:
            self._read_part(whole)

    def _read_part(self, part: ParsedYaml) -> None:
        """Read the settings in a part of the text, or in all of it."""
        self.lines |= part.lines
        for path, line in part.repeated:
            self._note_line(line, f"{path} is given twice; the first one counts", "Keep one of the two.")
        for key, value in self._read_section(part.value, _SETTINGS_AT_TOP, "").items():
            if not self.is_yaml and key in self.values:  # two versions of it, as between the marks of a conflict
                self.misread.add(key)
            self.values.setdefault(key, value)

    def _note_line(self, line: int, text: str, hint: str = "Correct the line.", code: str = "BAD_CONFIG") -> None:
        """Note what is wrong in a line, 0 for one that is not known."""
        self.problems.append(ConfigProblem(code, "error", line, text, hint))

    def note_wrong(self, path: str, text: str, hint: str = "Correct the line.", code: str = "BAD_CONFIG") -> None:
        """Note a wrong value by its path, with which `text` begins; its default counts."""
        self._note_line(self.lines.get(path, 0), text, hint, code)

    def _read_section(self, given: Mapping[str, Any], known: Mapping[str, Setting], path: str, **values: Any) -> Values:
        """Return the checked values of a mapping, by key.

        Args:
            given: The mapping as it is written.
            known: The settings that it may hold, by each of their words.
            path: Where it stands; empty for the top.
            values: Values that are known already.
        """
        there = set(values)
        for word, value in given.items():
            setting, place = known.get(word), path_of(path, word)
            if setting is None:
                self._note_unknown(place, word, known)
                self._note_misplaced_queue(value, place)
                continue
            there.add(setting.key)
            if value is None:
                continue
            problems_before = len(self.problems)
            read = self._read_value(value, setting, place)
            if read is not None:
                values.setdefault(setting.key, read)
            found = self.problems[problems_before:]
            is_at_top = not path
            if is_at_top and any(problem.severity == "error" for problem in found):
                self.misread.add(setting.key)
        missing = [setting.key for setting in known.values() if setting.needed and setting.key not in there]
        if missing:
            self.note_wrong(path, f"{path} has no {' and no '.join(missing)}", f"Add {', '.join(missing)}.")
        return values

    def _note_unknown(self, path: str, word: str, known: Iterable[str]) -> None:
        """Note a word that is no setting, with the nearest that is one."""
        hint = "Correct or remove it; 'team-console help settings' lists them all."
        text = f"unknown setting {path!r}{did_you_mean(word, known)}"
        self.problems.append(ConfigProblem("CONFIG_WARNING", "warning", self.lines[path], text, hint))

    def _note_misplaced_queue(self, value: Any, path: str) -> None:
        """Name a place of the queue below a key that is unknown: it is not used, and messages may wait there."""
        word = path.rpartition(".")[2]
        if word in QUEUE_PLACES:
            self.misread.add(word)
            hint = "Put it at the top of the settings, outside of any section; until then the usual place is used."
            self.note_wrong(path, f"{path} stands where it is not read", hint)
        elif isinstance(value, dict):
            for key, inner in value.items():
                self._note_misplaced_queue(inner, path_of(path, key))

    def _read_value(self, given: Any, setting: Setting, path: str) -> Any:
        """Return the value of one setting; None when it is wrong, and of one that is `closed` an empty set, which
        permits nothing.
        """
        value: Any = None
        if setting.form in _OF_MAPPINGS:
            value = self._read_mapping(given, setting, path)
        elif setting.form in _OF_LISTS and not isinstance(given, dict):
            value = self._read_list(given, setting, path)
        else:
            value = self._read_scalar(given, setting, path)
        return frozenset() if value is None and setting.closed else value

    def _read_mapping(self, given: Any, setting: Setting, path: str) -> Values | None:
        """Return the value of a setting that holds others, None when it is no mapping."""
        known = {word: field for field in setting.fields for word in field.keys}
        is_of_members = setting.form is ValueForm.MEMBERS
        if is_of_members and isinstance(given, list):
            return self._read_member_list(given, known, path)
        if not isinstance(given, dict):
            wanted = "a list of members" if is_of_members else "a mapping of keys to values"
            self.note_wrong(path, f"{path} must be {wanted}")
            return None
        if setting.form is ValueForm.SECTION:
            return self._read_section(given, known, path)
        if setting.form is ValueForm.VALUES:
            return self._read_values(given, setting, path)
        return self._read_entries(given, known, path)

    def _read_list(self, given: Any, setting: Setting, path: str) -> tuple[Any, ...] | None:
        """Return the right values of a list, or of the text in its place; None for a command that is none."""
        if not isinstance(given, str):
            places = {f"{path}[{number}]": item for number, item in enumerate(given)}
        elif setting.form is ValueForm.COMMAND:
            return self._split_command(given, path)
        else:
            places = {path: given}
        read = [self._read_scalar(item, setting, place) for place, item in places.items()]
        return tuple(item for item in read if item is not None)

    def _split_command(self, text: str, path: str) -> tuple[str, ...] | None:
        """Return command and arguments of a text as a shell splits it; None for a quote without an end, or nothing."""
        try:
            return tuple(shlex.split(text)) or None
        except ValueError as error:
            hint = "Write the command and its arguments as a list."
            self.note_wrong(path, f"{path}: {str(error).lower()}", hint)
            return None

    def _read_values(self, given: Mapping[str, Any], setting: Setting, path: str) -> Values:
        """Return the value of each name in a mapping."""
        values: Values = {}
        for word, value in given.items():
            place = path_of(path, word)
            if setting.choices and word not in setting.choices:
                self._note_unknown(place, word, setting.choices)
            elif value is not None and (read := self._read_scalar(value, setting.fields[0], place)) is not None:
                values[word] = read
        return values

    def _read_entries(self, given: Mapping[str, Any], known: Mapping[str, Setting], path: str) -> Values:
        """Return the section of each name in a mapping; of a member the name is a part of it."""
        entries: Values = {}
        for word, value in given.items():
            place = path_of(path, word)
            name = self._read_scalar(word, known.get("name", _ENTRY_NAME), place)
            if not isinstance(value, dict | None):
                self.note_wrong(place, f"{place} must be a mapping of keys to values")
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
                self.note_wrong(
                    place, f"{path}: {name!r} is listed twice; the first one counts", "Keep one of the two."
                )
            elif name is not None:
                members[name] = fields
        return members

    def _read_scalar(self, given: Any, setting: Setting, path: str) -> Any:
        """Return the value of a single text for a setting; None when it is wrong."""
        try:
            return _parse_scalar(setting, given if isinstance(given, str) else "")
        except _WrongValueError as error:
            self.note_wrong(path, f"{path}{error.text}", error.hint, error.code)
            return None


_ENTRY_NAME = Setting("", ValueForm.TEXT, "")
"""Stands for the name of an entry that is no member."""


def _parse_scalar(setting: Setting, text: str) -> Any:
    """Return the value that a text means for a setting.

    Raises:
        _WrongValueError: It is none; an empty text never is.
    """
    if not text:
        raise _WrongValueError(f" must be {setting.form}")
    value: Any = text
    match setting.form:
        case ValueForm.NAME:
            value = as_name(text)
            if value is None or value == ALL:
                raise _WrongValueError(f": {text!r} is not a usable name", RULE)
        case ValueForm.WORD if text not in setting.choices:
            ask = did_you_mean(text, setting.choices)
            raise _WrongValueError(f": {text!r} is none of {', '.join(setting.choices)}{ask}")
        case ValueForm.RULES if trouble := rule_trouble(text):
            raise _WrongValueError(f": {trouble}")
        case ValueForm.KEYS:
            try:
                key_bytes(text)
            except ValueError as error:
                hint = "Copy the whole line of a file such as ~/.ssh/id_ed25519.pub."
                raise _WrongValueError(f": {error}", hint, "BAD_KEY") from error
            value = " ".join(text.split())
        case ValueForm.FLAG:
            value = _TRUE_OR_FALSE.get(text.lower())
        case ValueForm.COUNT | ValueForm.SECONDS:
            try:
                value = convert(text, _COUNT if setting.form is ValueForm.COUNT else _SECONDS, strict=False)
            except ValidationError:
                value = None
        case ValueForm.MOMENT:
            value = from_text(text)
            if value is None:
                raise _WrongValueError(f" must be {setting.form}, not {text!r}", "For example 2026-11-22T08:00:00Z.")
    if value is None:
        raise _WrongValueError(f" must be {setting.form}, not {text!r}")
    return value


def rule_trouble(text: str) -> str:
    """Say why `text` names no action that can be asked for; empty when it names one."""
    if text.startswith("Write("):
        return f"{text!r} matches nothing in Claude Code: write Edit{text.removeprefix('Write')}"
    if text in ASK_WORDS or re.fullmatch(_RULE_OF_CLAUDE_CODE, text):
        return ""
    ask = did_you_mean(text, ASK_WORDS)
    return f"{text!r} is neither one of {', '.join(ASK_WORDS)} nor a rule such as 'Bash(make deploy:*)'{ask}"
