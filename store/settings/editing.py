"""Settings as text: those of a new team, those of a copy, and changes of members that leave every other character."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct
from team_console.store.model.clock import to_text
from team_console.store.model.names import canonical
from team_console.store.settings.team_config import Agent, TeamConfig

_PLAIN_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
_ALSO = {"plan": "plan_mode_required", "members": "agents"}


class SettingsEditError(Exception):
    """The text is not built so that this change could be made in it; it says why."""


def quoted(text: str) -> str:
    """A name as a YAML scalar that is read as a text."""
    plain = text[:1].isalpha() and text.lower() not in _PLAIN_WORDS and not text.endswith(":")
    return (
        text
        if plain and all(letter.isalnum() or letter in "._-" for letter in text)
        else json.dumps(text, ensure_ascii=False)
    )


def fields_of(agent: Agent) -> dict[str, Any]:
    """What settings say of a member, its name left out: the role, and what differs from the default."""
    plain = Agent(agent.name)
    fields: dict[str, Any] = {"role": agent.role}
    for key in ("plan_mode_required", "deliver", "deliver_timeout"):
        if getattr(agent, key) != getattr(plain, key):
            fields[key] = getattr(agent, key)
    for key in ("may_message", "may_send"):
        if getattr(agent, key) is not None:
            fields[key] = sorted(getattr(agent, key))
    if agent.ask_for is not None:
        fields["ask_for"] = list(agent.ask_for)
    return fields


def member_lines(agent: Agent) -> list[str]:
    """A member as an entry of a block list."""
    fields = {"name": agent.name, **fields_of(agent)}
    lines = [f"{key}: {_value(value)}" for key, value in fields.items()]
    return [f"- {lines[0]}", *(f"  {line}" for line in lines[1:])]


def write_new(path: Path, *, team: str, lead: str, agents: Iterable[Agent], language: str = "any") -> None:
    """Create the settings file of a new team; never replaces one.

    Raises:
        FileExistsError: There is a file at `path` already.
    """
    # Created for its owner to write alone, whatever the umask: settings that others can write run no command.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(new_text(team=team, lead=lead, agents=agents, language=language))


def new_text(*, team: str, lead: str, agents: Iterable[Agent], language: str = "any") -> str:
    """The settings of a new team as text."""
    lines = [
        "# Settings of this team; 'team-console help settings' explains them all.",
        f"team: {quoted(team)}",
        f"lead: {quoted(lead)}",
        f"language: {language}",
    ]
    members = [line for agent in agents for line in member_lines(agent)]
    lines += ["agents:", *members] if members else []
    return "\n".join(lines) + "\n"


_OF_THIS_PLACE = ("key_file", "queue_dir", "queue_file", "archive_dir")


def settings_text(config: TeamConfig) -> str:
    """YAML with what the settings say, or of settings that nobody wrote the team, its lead and its members.

    Its key and the places of its files are left out: they are where this team is, not what it is.
    """
    if not config.said:
        agents = config.agents.values() if config.declared else ()
        return new_text(team=config.name, lead=config.lead, agents=agents, language=config.language)
    settings = {key: _plain(value) for key, value in config.said.items() if key not in _OF_THIS_PLACE}
    return yaml.safe_dump(settings, sort_keys=False, allow_unicode=True, width=120)


def _plain(value: Any) -> Any:
    """A value of the settings as YAML has it."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, frozenset)):
        return [_plain(item) for item in value]
    return to_text(value) if isinstance(value, datetime) else value


def add_member(text: str, agent: Agent) -> str:
    """The text with a new member at the end of its list.

    Raises:
        SettingsEditError: The text is not a mapping, or not YAML.
    """
    return _Editor(text).add(agent)


def change_member(text: str, name: str, fields: Mapping[str, Any]) -> str:
    """The text with these fields of a member; None takes a field away.

    Raises:
        SettingsEditError: As for `add_member`, or the member is not listed in it.
    """
    for key, value in fields.items():
        text = _Editor(text).change(name, key, value)
    return text


def remove_member(text: str, name: str) -> str:
    """The text without the member.

    Raises:
        SettingsEditError: As for `change_member`.
    """
    return _Editor(text).remove(name)


class _ListedMember(Struct, frozen=True):
    """A member in the text.

    Attributes:
        place: Which entry of the list or mapping it is.
        node: Its fields; a scalar when there are none yet.
        key: Its name, where the members are a mapping.
    """

    place: int
    node: Any
    key: Any = None


class _Editor:
    def __init__(self, text: str) -> None:
        self.text = text
        self.newline = "\r\n" if "\r\n" in text else "\n"
        self.root = _composed(text)
        if self.root is not None and self.root.id != "mapping":
            raise SettingsEditError("the settings are not a mapping")
        self.key: Any = None
        self.agents: Any = None
        if self.root is not None:
            self.key, self.agents = self._find(self.root, "agents")

    def add(self, agent: Agent) -> str:
        fields = fields_of(agent)
        if self.agents is None or self.agents.id == "scalar" or not self.agents.value:
            return self._add_list(agent)
        is_mapping = self.agents.id == "mapping"
        if self.agents.flow_style:
            return self._change_part(self.agents, None, self._flow_member(agent, is_mapping=is_mapping))
        last = self.agents.value[-1]
        indent = " " * self.agents.start_mark.column
        lines = member_lines(agent)
        if is_mapping:
            lines = [f"{quoted(agent.name)}:", *(f"  {key}: {_value(value)}" for key, value in fields.items())]
        elif last.id == "scalar" and fields == {"role": "member"}:
            lines = [f"- {quoted(agent.name)}"]
        return self._insert_lines(self._end(last[1] if is_mapping else last), [indent + line for line in lines])

    def change(self, name: str, field: str, value: Any) -> str:
        item = self._item(name)
        node = item.node
        if node.id == "scalar":
            return self.text if value is None else self._first_field(item, name, field, value)
        keys = [key for key, _ in node.value]
        key, old = self._find(node, field)
        place = keys.index(key) if key is not None else None
        if place is None and value is None:
            return self.text
        if node.flow_style:
            word = self._flow(field) if key is None else self.text[key.start_mark.index : key.end_mark.index]
            return self._change_part(node, place, None if value is None else f"{word}: {self._flow(value)}")
        if place is None:
            end = self._end(node.value[-1][1])
            return self._insert_lines(end, [f"{' ' * node.start_mark.column}{field}: {_value(value)}"])
        if value is not None:
            return self._splice(key.end_mark.index, self._end(old), f": {_value(value)}")
        if place == 0 and len(keys) > 1:  # on the line of the dash, which has to stay
            return self._splice(key.start_mark.index, keys[1].start_mark.index, "")
        return self._drop_lines(key.start_mark.index, self._end(old))

    def remove(self, name: str) -> str:
        item = self._item(name)
        if self.agents.flow_style:
            return self._change_part(self.agents, item.place, None)
        start = item.key.start_mark.index if item.key is not None else self._dash(item.node)
        return self._drop_lines(start, self._end(item.node))

    def _add_list(self, agent: Agent) -> str:
        """The text with its first member, where there is no list or an empty one."""
        if self.root is not None and self.root.flow_style:
            place = None if self.key is None else [key for key, _ in self.root.value].index(self.key)
            return self._change_part(self.root, place, f"{self._flow('agents')}: [{self._flow_member(agent)}]")
        if self.agents is None:
            return self._insert_lines(len(self.text), ["agents:", *member_lines(agent)])
        after = self.key.end_mark.index
        text = self._splice(after, max(self._end(self.agents), after + 1), ":")
        return _Editor(text)._insert_lines(after + 1, member_lines(agent))

    def _first_field(self, item: _ListedMember, name: str, field: str, value: Any) -> str:
        """A member of which only the name is there gets a mapping of its own."""
        start, end = item.node.start_mark.index, self._end(item.node)
        if self.agents.flow_style:
            written = f"{self._flow(field)}: {self._flow(value)}"
            if item.key is None:
                part = f"{{{self._flow('name')}: {self._flow(name)}, {written}}}"
            else:
                part = f"{self.text[item.key.start_mark.index : item.key.end_mark.index]}: {{{written}}}"
            return self._change_part(self.agents, item.place, part)
        if item.key is not None:
            column, after = item.key.start_mark.column + 2, item.key.end_mark.index
            text = self._splice(after, max(end, after + 1), ":")
            return _Editor(text)._insert_lines(after, [f"{' ' * column}{field}: {_value(value)}"])
        text = self._splice(start, end, f"name: {self.text[start:end]}")
        line = f"{' ' * item.node.start_mark.column}{field}: {_value(value)}"
        return _Editor(text)._insert_lines(start, [line])

    def _change_part(self, node: Any, place: int | None, part: str | None) -> str:
        """Change one of the parts between the commas of a node in brackets; a new one without place, none without part.

        Parts are put together as the first two are, each on a line of its own where those are.
        """
        entries = [entry if node.id == "mapping" else (entry, entry) for entry in node.value]
        spans = [(first.start_mark.index, self._end(last)) for first, last in entries]
        words = [self.text[start:end] for start, end in spans]
        parts = [f"{word} " if word.endswith(":") else word for word in words]  # `a:,` would be a key of that name
        at = len(parts) if place is None else place
        parts[at : at + 1] = [] if part is None else [part]
        start = spans[0][0] if spans else node.start_mark.index + 1
        end = spans[-1][1] if spans else node.end_mark.index - 1
        between = self.text[spans[0][1] : spans[1][0]] if len(spans) > 1 else ", "
        return self._splice(start, end, (", " if "#" in between else between).join(parts))

    def _drop_lines(self, start: int, end: int) -> str:
        first = self.text.rfind("\n", 0, start) + 1
        last = self.text.find("\n", max(end - 1, start))
        return self._splice(first, len(self.text) if last < 0 else last + 1, "")

    def _insert_lines(self, after: int, lines: list[str]) -> str:
        """Whole lines behind the line in which `after` is."""
        at = self.text.find("\n", max(after - 1, 0)) + 1 if after else 0
        at = at or len(self.text)
        gap = self.newline if at == len(self.text) and self.text and not self.text.endswith("\n") else ""
        return self._splice(at, at, gap + "".join(line + self.newline for line in lines))

    def _splice(self, start: int, end: int, words: str) -> str:
        return self.text[:start] + words + self.text[end:]

    def _flow_member(self, agent: Agent, *, is_mapping: bool = False) -> str:
        fields = fields_of(agent)
        if is_mapping:
            return f"{self._flow(agent.name)}: {self._flow(fields)}"
        return self._flow({"name": agent.name, **fields})

    def _flow(self, value: Any) -> str:
        """A value within brackets; settings written as JSON stay JSON."""
        as_json = self.text.lstrip("\ufeff \t\r\n").startswith("{")
        return json.dumps(_jsonable(value), ensure_ascii=False) if as_json else _value(value)

    def _item(self, name: str) -> _ListedMember:
        if self.agents is None or self.agents.id == "scalar":
            raise SettingsEditError(f"{name} is not listed in the settings")
        for place, entry in enumerate(self.agents.value):
            if self.agents.id == "mapping":
                if _is_of(entry[0], name):
                    return _ListedMember(place, entry[1], entry[0])
            elif entry.id == "scalar":
                if _is_of(entry, name):
                    return _ListedMember(place, entry)
            elif entry.id == "mapping" and _is_of(self._find(entry, "name")[1], name):
                return _ListedMember(place, entry)
        raise SettingsEditError(f"{name} is not listed in the settings")

    def _find(self, node: Any, field: str) -> tuple[Any, Any]:
        for key, value in node.value:
            if _ALSO.get(key.value, key.value) == field if isinstance(key.value, str) else False:
                return key, value
        return None, None

    def _dash(self, node: Any) -> int:
        """Where the dash of an entry stands."""
        dash = self.text.rfind("-", 0, node.start_mark.index)
        between = self.text[dash + 1 : node.start_mark.index]
        if dash < 0 or between.strip():
            raise SettingsEditError("a comment stands between a dash and its entry")
        return dash

    def _end(self, node: Any) -> int:
        """Where the words of a value end; the parser's own mark of a block lies behind the comments that follow."""
        if node.id == "scalar" or node.flow_style:
            return int(node.end_mark.index)
        if not node.value:
            return int(node.end_mark.index)
        last = node.value[-1]
        return self._end(last[1] if node.id == "mapping" else last)


def _is_of(node: Any, name: str) -> bool:
    """Whether a node is the name of a member, however it is spelt."""
    value = getattr(node, "value", None)
    return isinstance(value, str) and canonical(value) == canonical(name)


def _composed(text: str) -> Any:
    try:
        # The parser in Python counts characters; that in C counts bytes.
        return yaml.compose(text, yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise SettingsEditError("the settings are not YAML as a whole") from error


def _value(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return f"{value:g}"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{quoted(key)}: {_value(inner)}" for key, inner in value.items()) + "}"
    return "[" + ", ".join(_value(item) for item in value) + "]"


def _jsonable(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _jsonable(inner) for key, inner in value.items()}
    return list(value) if isinstance(value, (tuple, frozenset)) else value
