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

_BOOLEAN_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
_OTHER_WORDS = {"plan": "plan_mode_required", "members": "agents"}


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
    """Changes the text where the nodes of its YAML stand; within brackets it writes JSON, which is YAML as well."""

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
        part = (
            f"{_json_text(agent.name)}: {_json_text(fields)}" if by_name else _json_text({"name": agent.name, **fields})
        )
        if entries and self.agents.flow_style:
            return self._change_part(self.agents, None, part)
        if entries:
            indent = " " * self.agents.start_mark.column
            lines = [part] if by_name else _member_lines(agent)
            return self._insert_lines(_end_of(entries[-1][1]), [indent + line for line in lines])
        if self.key is not None:
            return self._replace_value(self.key, self.agents, f"[{part}]")
        if self.root is not None and self.root.flow_style:
            return self._change_part(self.root, None, f"{_json_text('agents')}: [{part}]")
        return self._insert_lines(len(self.text), ["agents:", *_member_lines(agent)])

    def change(self, name: str, field: str, value: Any) -> str:
        """Return the text with one field of a member; None for `value` takes it away."""
        _, named, node = self._member(name)
        key, old = _find_field(node, field)
        if key is None and value is None:
            return self.text
        if node.id == "scalar":  # a member of which only the name is there gets a mapping
            if named is not node:
                return self._replace_value(named, node, _json_text({field: value}))
            return self._splice(node.start_mark.index, _end_of(node), _json_text({"name": name, field: value}))
        keys = [word for word, _ in _entries(node)]
        if node.flow_style:
            word = _json_text(field) if key is None else self.text[key.start_mark.index : key.end_mark.index]
            part = None if value is None else f"{word}: {_json_text(value)}"
            return self._change_part(node, None if key is None else keys.index(key), part)
        if key is None:
            return self._insert_lines(_end_of(node), [f"{' ' * node.start_mark.column}{field}: {_scalar_text(value)}"])
        if value is not None:
            return self._replace_value(key, old, _scalar_text(value))
        if key is keys[0] and len(keys) > 1:  # on the line of the dash, which has to stay
            return self._splice(key.start_mark.index, keys[1].start_mark.index, "")
        return self._drop_lines(key.start_mark.index, _end_of(old))

    def remove(self, name: str) -> str:
        """Return the text without a member."""
        place, named, node = self._member(name)
        if self.agents.flow_style:
            return self._change_part(self.agents, place, None)
        start = named.start_mark.index
        if self.agents.id == "sequence":
            start = self.text.rfind("-", 0, start)
            if start < 0 or self.text[start + 1 : named.start_mark.index].strip():
                raise SettingsEditError("a comment stands between a dash and its entry")
        return self._drop_lines(start, _end_of(node))

    def _member(self, name: str) -> tuple[int, Any, Any]:
        """Return the member's index, its key (the entry itself in a list) and its fields."""
        for place, (key, node) in enumerate(_entries(self.agents)):
            named = _find_field(node, "name")[1] if key is node and node.id != "scalar" else key
            word = getattr(named, "value", None)
            if isinstance(word, str) and canonical(word) == canonical(name):
                return place, key, node
        raise SettingsEditError(f"{name} is not listed in the settings")

    def _replace_value(self, key: Any, old: Any, words: str) -> str:
        """Put another value behind a key; an old one that is empty may stand anywhere behind it."""
        after = int(key.end_mark.index)
        return self._splice(after, max(_end_of(old), after + 1), f": {words}")

    def _change_part(self, node: Any, place: int | None, part: str | None) -> str:
        """Change one of the parts between the commas of a node in brackets; a new one without place, none without part.

        Parts are put together as the first two are, each on a line of its own where those are.
        """
        spans = [(first.start_mark.index, _end_of(last)) for first, last in _entries(node)]
        words = [self.text[start:end] for start, end in spans]
        parts = [f"{word} " if word.endswith(":") else word for word in words]  # `a:,` would be a key of that name
        at = len(parts) if place is None else place
        parts[at : at + 1] = [] if part is None else [part]
        start = spans[0][0] if spans else node.start_mark.index + 1
        end = spans[-1][1] if spans else node.end_mark.index - 1
        between = self.text[spans[0][1] : spans[1][0]] if len(spans) > 1 else ", "
        return self._splice(start, end, (", " if "#" in between else between).join(parts))

    def _drop_lines(self, start: int, end: int) -> str:
        last = self.text.find("\n", max(end - 1, start))
        return self._splice(self.text.rfind("\n", 0, start) + 1, len(self.text) if last < 0 else last + 1, "")

    def _insert_lines(self, after: int, lines: list[str]) -> str:
        """Put whole lines behind the line in which `after` is."""
        newline = "\r\n" if "\r\n" in self.text else "\n"
        at = self.text.find("\n", max(after - 1, 0)) + 1 or len(self.text)
        gap = newline if at == len(self.text) and self.text and not self.text.endswith("\n") else ""
        return self._splice(at, at, gap + "".join(line + newline for line in lines))

    def _splice(self, start: int, end: int, words: str) -> str:
        return self.text[:start] + words + self.text[end:]


def _entries(node: Any) -> list[tuple[Any, Any]]:
    """Return keys and values of a mapping, each entry of a list twice, nothing of anything else."""
    if node is None or node.id == "scalar":
        return []
    return [entry if node.id == "mapping" else (entry, entry) for entry in node.value]


def _find_field(node: Any, field: str) -> tuple[Any, Any]:
    """Return the key and the value of a field, by each of its names."""
    found = (
        entry
        for entry in _entries(node)
        if isinstance(word := entry[0].value, str) and _OTHER_WORDS.get(word, word) == field
    )
    return next(found, (None, None))


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
    is_plain = value[:1].isalpha() and value.lower() not in _BOOLEAN_WORDS
    return value if is_plain and all(letter.isalnum() or letter in "._-" for letter in value) else _json_text(value)


def _json_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
