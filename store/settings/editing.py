"""Settings as text: those of a new team, those of a copy, and changes of members that leave every other character."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import yaml
from team_console.store.model.message import without
from team_console.store.model.names import canonical
from team_console.store.settings.team_config import Agent, TeamConfig

_NO_TEXTS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
"""Words that YAML reads as another value than a text unless they stand in quotes."""
_OTHER_NAMES = {"plan": "plan_mode_required", "members": "agents"}
"""Other names of settings that are edited here (`Setting.also`) -> the setting."""


class SettingsEditError(Exception):
    """The text is not built so that this change could be made in it; it says why."""


def fields_of(agent: Agent) -> dict[str, Any]:
    """Return the settings of a member without its name: the role, and what differs from the default."""
    fields = msgspec.to_builtins(agent, order="deterministic")
    plain = msgspec.to_builtins(Agent(fields.pop("name")))
    return {key: value for key, value in fields.items() if key == "role" or value != plain[key]}


def write_new_settings(path: Path, *, team: str, lead: str, agents: Iterable[Agent]) -> None:
    """Create the settings file of a new team; never replaces one.

    Raises:
        FileExistsError: There is a file at `path` already.
    """
    # Created for its owner to write alone, whatever the umask: settings that others can write run no command.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(new_settings_text(team=team, lead=lead, agents=agents))


def new_settings_text(*, team: str, lead: str, agents: Iterable[Agent], language: str = "any") -> str:
    """Return the settings of a new team as text."""
    lines = [
        "# Settings of this team; 'team-console help settings' explains them all.",
        f"team: {_scalar_text(team)}",
        f"lead: {_scalar_text(lead)}",
        f"language: {language}",
    ]
    members = [line for agent in agents for line in _member_lines(agent)]
    lines += ["agents:", *members] if members else []
    return "\n".join(lines) + "\n"


_LOCAL_SETTINGS = ("key_file", "queue_dir", "queue_file", "archive_dir")
"""Where this team keeps its key and its files."""


def settings_as_yaml(config: TeamConfig) -> str:
    """Write what the settings say as YAML, or of settings that nobody wrote the team, its lead and its members.

    Its key and the places of its files are left out: they are where this team is, not what it is.
    """
    if not config.values:
        agents = config.agents.values() if config.declared else ()
        return new_settings_text(team=config.name, lead=config.lead, agents=agents, language=config.language)
    settings = without(config.values, _LOCAL_SETTINGS)
    return yaml.safe_dump(msgspec.to_builtins(settings), sort_keys=False, allow_unicode=True, width=120)


def add_member(text: str, agent: Agent) -> str:
    """Return the text with a new member at the end of its list.

    Raises:
        SettingsEditError: The text is not a mapping, or not YAML.
    """
    return _Editor(text).add(agent)


def change_member(text: str, name: str, fields: Mapping[str, Any]) -> str:
    """Return the text with these fields of a member; None takes a field away.

    Raises:
        SettingsEditError: As for `add_member`, or the member is not listed in it.
    """
    for key, value in fields.items():
        text = _Editor(text).change(name, key, value)
    return text


def remove_member(text: str, name: str) -> str:
    """Return the text without the member.

    Raises:
        SettingsEditError: As for `change_member`.
    """
    return _Editor(text).remove(name)


class _Editor:
    """Changes the text where the nodes of its YAML stand; within brackets it writes JSON, which is YAML as well.

    A node of PyYAML is a scalar, a sequence or a mapping (`id`), in brackets (`flow_style`) or as a block, and knows
    where it begins and ends in the text (`start_mark.index`, `end_mark.index`).

    Attributes:
        root: The mapping of all settings; None for an empty text.
        key, agents: The key and the value of the setting `agents`; None where there is none.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        try:
            # The parser in Python counts characters; that in C counts bytes.
            self.root: Any = yaml.compose(text, yaml.SafeLoader)
        except yaml.YAMLError as error:
            raise SettingsEditError("the settings are not YAML as a whole") from error
        if not isinstance(self.root, yaml.MappingNode | None):
            raise SettingsEditError("the settings are not a mapping")
        self.key, self.agents = _find_field(self.root, "agents")

    def add(self, agent: Agent) -> str:
        """Return the text with a member at the end of its list, in the form that the list has."""
        fields, entries = fields_of(agent), _entries(self.agents)
        by_name = bool(entries) and self.agents.id == "mapping"
        if by_name:
            member = f"{_json_text(agent.name)}: {_json_text(fields)}"
        else:
            member = _json_text({"name": agent.name, **fields})
        if entries and self.agents.flow_style:
            return self._change_in_brackets(self.agents, None, member)
        if entries:
            indent = " " * self.agents.start_mark.column
            lines = [member] if by_name else _member_lines(agent)
            return self._insert_lines(_end_of(entries[-1][1]), [indent + line for line in lines])
        if self.key is not None:
            return self._replace_value(self.key, self.agents, f"[{member}]")
        if self.root is not None and self.root.flow_style:
            return self._change_in_brackets(self.root, None, f"{_json_text('agents')}: [{member}]")
        return self._insert_lines(len(self.text), ["agents:", *_member_lines(agent)])

    def change(self, name: str, field: str, value: Any) -> str:
        """Return the text with one field of a member; None for `value` takes it away."""
        _, name_node, member = self._member(name)
        key, old = _find_field(member, field)
        if key is None and value is None:
            return self.text
        if member.id == "scalar":  # a member of which only the name is there gets a mapping
            if name_node is not member:
                return self._replace_value(name_node, member, _json_text({field: value}))
            return self._splice(member.start_mark.index, _end_of(member), _json_text({"name": name, field: value}))
        keys = [each for each, _ in _entries(member)]
        if member.flow_style:
            word = _json_text(field) if key is None else self.text[key.start_mark.index : key.end_mark.index]
            entry = None if value is None else f"{word}: {_json_text(value)}"
            return self._change_in_brackets(member, None if key is None else keys.index(key), entry)
        if key is None:
            line = f"{' ' * member.start_mark.column}{field}: {_scalar_text(value)}"
            return self._insert_lines(_end_of(member), [line])
        if value is not None:
            return self._replace_value(key, old, _scalar_text(value))
        if key is keys[0] and len(keys) > 1:  # on the line of the dash, which has to stay
            return self._splice(key.start_mark.index, keys[1].start_mark.index, "")
        return self._drop_lines(key.start_mark.index, _end_of(old))

    def remove(self, name: str) -> str:
        """Return the text without a member."""
        place, name_node, member = self._member(name)
        if self.agents.flow_style:
            return self._change_in_brackets(self.agents, place, None)
        start = name_node.start_mark.index
        if self.agents.id == "sequence":
            start = self.text.rfind("-", 0, start)
            if start < 0 or self.text[start + 1 : name_node.start_mark.index].strip():
                raise SettingsEditError("a comment stands between a dash and its entry")
        return self._drop_lines(start, _end_of(member))

    def _member(self, name: str) -> tuple[int, Any, Any]:
        """Return of a member its place in the list, its key (in a list the entry itself), and its entry."""
        for place, (key, member) in enumerate(_entries(self.agents)):
            is_in_list = key is member
            named = _find_field(member, "name")[1] if is_in_list and member.id != "scalar" else key
            word = getattr(named, "value", None)
            if isinstance(word, str) and canonical(word) == canonical(name):
                return place, key, member
        raise SettingsEditError(f"{name} is not listed in the settings")

    def _replace_value(self, key: Any, old: Any, words: str) -> str:
        """Return the text with another value behind a key."""
        after = int(key.end_mark.index)
        # An old value that is empty may end before the colon behind the key, which goes in any case.
        return self._splice(after, max(_end_of(old), after + 1), f": {words}")

    def _change_in_brackets(self, node: Any, place: int | None, entry: str | None) -> str:
        """Return the text with another entry between the commas of a node in brackets.

        Entries are put together as the first two are, each on a line of its own where those are.

        Args:
            place: Of the entry that is changed, from 0; None for a new one at the end.
            entry: Its text from now on; None takes it away.
        """
        spans = [(first.start_mark.index, _end_of(last)) for first, last in _entries(node)]
        words = [self.text[start:end] for start, end in spans]
        entries = [f"{word} " if word.endswith(":") else word for word in words]  # `a:,` would be a key of that name
        at = len(entries) if place is None else place
        entries[at : at + 1] = [] if entry is None else [entry]
        start = spans[0][0] if spans else node.start_mark.index + 1
        end = spans[-1][1] if spans else node.end_mark.index - 1
        between = self.text[spans[0][1] : spans[1][0]] if len(spans) > 1 else ", "
        if "#" in between:  # a comment belongs to its entry
            between = ", "
        return self._splice(start, end, between.join(entries))

    def _drop_lines(self, start: int, end: int) -> str:
        """Return the text without the lines from that of `start` to that of the character before `end`."""
        last = self.text.find("\n", max(end - 1, start))
        return self._splice(self.text.rfind("\n", 0, start) + 1, len(self.text) if last < 0 else last + 1, "")

    def _insert_lines(self, after: int, lines: list[str]) -> str:
        """Return the text with whole lines behind the line of the character before `after`."""
        newline = "\r\n" if "\r\n" in self.text else "\n"
        at = self.text.find("\n", max(after - 1, 0)) + 1 or len(self.text)
        gap = newline if at == len(self.text) and self.text and not self.text.endswith("\n") else ""
        return self._splice(at, at, gap + "".join(line + newline for line in lines))

    def _splice(self, start: int, end: int, words: str) -> str:
        """Return the text with `words` in place of its characters from `start` to before `end`."""
        return self.text[:start] + words + self.text[end:]


def _entries(node: Any) -> list[tuple[Any, Any]]:
    """Return the keys and values of a mapping; of a list each entry as both; nothing of anything else."""
    if node is None or node.id == "scalar":
        return []
    return [entry if node.id == "mapping" else (entry, entry) for entry in node.value]


def _find_field(node: Any, field: str) -> tuple[Any, Any]:
    """Return the key and the value of a field, by each of its names; None twice where there is none."""
    for key, value in _entries(node):
        if isinstance(key.value, str) and _OTHER_NAMES.get(key.value, key.value) == field:
            return key, value
    return None, None


def _end_of(node: Any) -> int:
    """Return where the words of a value end; the parser's own mark of a block lies behind the comments that follow."""
    if node.id == "scalar" or node.flow_style or not node.value:
        return int(node.end_mark.index)
    return _end_of(_entries(node)[-1][1])


def _member_lines(agent: Agent) -> list[str]:
    """Return a member as an entry of a block list."""
    lines = [f"{key}: {_scalar_text(value)}" for key, value in {"name": agent.name, **fields_of(agent)}.items()]
    return [f"- {lines[0]}", *(f"  {line}" for line in lines[1:])]


def _scalar_text(value: Any) -> str:
    """Return a value on one line; a name as a scalar that is read as a text."""
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_scalar_text, value))}]"
    if not isinstance(value, str):
        return _json_text(value)
    is_plain = value[:1].isalpha() and value.lower() not in _NO_TEXTS
    return value if is_plain and all(letter.isalnum() or letter in "._-" for letter in value) else _json_text(value)


def _json_text(value: Any) -> str:
    """Return a value as JSON on one line."""
    return json.dumps(value, ensure_ascii=False)
