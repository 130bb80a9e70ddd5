"""Reads and writes `messenger-config.yaml`, naming the line and the key of anything that is wrong in it."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn, TypeVar

from store.config import OVERDUE_SECONDS, Agent, Route, TeamConfig
from store.errors import Code, TeamError
from store.message import Priority
from store.names import ALL, is_name, nearest

T = TypeVar("T")

ROLES = ("master", "resident", "slave", "temp", "member")
LANGUAGES = ("any", "zh", "en")
_MAX_BYTES = 1_048_576
_RETENTION = ("active_messages_max", "archive_after_days", "delete_archived_after_days")
_LIMITS = ("content_max_bytes", "attachment_bytes", "content_soft_bytes")
_TOP = {
    *("team", "name", "lead", "master", "agents", "language", "limits", "retention", "overdue_seconds"),
    *("priorities", "message_types", "routes", "spawn", "key_file", "version"),
    *_RETENTION,
}
_AGENT = {
    *("name", "role", "plan_mode_required", "plan", "deliver", "deliver_timeout", "may_message", "may_send"),
    *("agent_type", "description"),
}


def load(path: Path) -> TeamConfig:
    """The settings in `path`; defaults when there is no such file.

    Raises:
        TeamError: `STORE_UNREADABLE` naming file, line and key.
    """
    data = read_text(path)
    return TeamConfig() if data is None else parse(data, path)


def read_text(path: Path) -> bytes | None:
    """The text of the settings in `path`, None when there is no such file.

    Raises:
        TeamError: `STORE_UNREADABLE` naming the file.
    """
    try:
        return _read(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise TeamError(Code.STORE_UNREADABLE, f"{path}: {error.strerror}", "Check its permissions.") from error


def _read(path: Path) -> bytes:
    """The bytes of a plain file; opening a pipe for reading would wait for a writer for ever."""
    with open(path, "rb", opener=_open_quietly) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "not a plain file", str(path))
        return file.read(_MAX_BYTES + 1)


def _open_quietly(name: str, flags: int) -> int:
    """Without touching the access time where the owner may ask for that."""
    try:
        return os.open(name, flags | os.O_NONBLOCK | getattr(os, "O_NOATIME", 0))
    except PermissionError:
        return os.open(name, flags | os.O_NONBLOCK)


def parse(data: bytes, path: Path) -> TeamConfig:
    """The settings in the text `data` of `path` (relative key files are looked up beside it).

    Raises:
        TeamError: `STORE_UNREADABLE` naming file, line and key.
    """
    reader = _Reader(path)
    root = reader.compose(data)
    if root is None:
        return TeamConfig()
    top = reader.mapping(root, "the settings", known=_TOP)
    agents = _agents(reader, top.get("agents"))
    lead_node = top.get("lead") or top.get("master")
    lead = reader.name(lead_node, "lead") if lead_node is not None else _default_lead(agents)
    retention = reader.mapping(top["retention"], "retention", known=set(_RETENTION)) if "retention" in top else {}
    limits = reader.mapping(top["limits"], "limits", known=set(_LIMITS)) if "limits" in top else {}
    numbers = {key: reader.count(node, key) for key, node in {**top, **retention, **limits}.items() if key in _NUMBERS}
    name_node = top.get("team") or top.get("name")
    return TeamConfig(
        name=reader.name(name_node, "team") if name_node is not None else "team",
        lead=lead,
        agents=MappingProxyType(_with_lead(agents, lead)),
        declared=bool(agents),
        language=reader.choice(top["language"], "language", LANGUAGES) if "language" in top else "any",
        overdue_seconds=MappingProxyType({**OVERDUE_SECONDS, **_seconds(reader, top.get("overdue_seconds"))}),
        priorities=MappingProxyType(_priorities(reader, top)),
        routes=tuple(_routes(reader, top.get("routes"))),
        spawn=tuple(reader.words(top["spawn"], "spawn")) if "spawn" in top else (),
        key=_key(reader, top.get("key_file")),
        warnings=tuple(reader.warnings),
        lost="",
        **numbers,
    )


_NUMBERS = frozenset((*_RETENTION, *_LIMITS))


def write_new(path: Path, *, team: str, lead: str, agents: Iterable[Agent], language: str = "any") -> None:
    """Create the settings file of a new team; never replaces one.

    Raises:
        FileExistsError: There is a file at `path` already.
    """
    lines = [
        "# Settings of this team. Unknown keys are kept and ignored; see the README for all of them.",
        f"team: {_quoted(team)}",
        f"lead: {_quoted(lead)}",
        f"language: {language}",
        "agents:",
    ]
    for agent in agents:
        lines += [f"- name: {_quoted(agent.name)}", f"  role: {agent.role}"]
        if agent.plan_mode_required:
            lines.append("  plan_mode_required: true")
    with path.open("x", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def _quoted(name: str) -> str:
    return name if name[:1].isalpha() and name.lower() not in _YAML_WORDS else f"'{name}'"


_YAML_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})


def _default_lead(agents: Mapping[str, Agent]) -> str:
    masters = [agent.name for agent in agents.values() if agent.role == "master"]
    return masters[0] if masters else "user"


def _with_lead(agents: dict[str, Agent], lead: str) -> dict[str, Agent]:
    return agents if not agents or lead in agents else {lead: Agent(lead, role="master"), **agents}


class _Reader:
    """Turns YAML nodes into checked values; every refusal names the line."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.warnings: list[str] = []

    def fail(self, node: Any, text: str, hint: str = "Correct the line and try again.") -> NoReturn:
        raise TeamError(Code.STORE_UNREADABLE, f"{self.path} line {node.start_mark.line + 1}: {text}", hint)

    def compose(self, data: bytes) -> Any:
        import yaml

        loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        if len(data) > _MAX_BYTES:
            raise TeamError(Code.STORE_UNREADABLE, f"{self.path}: larger than {_MAX_BYTES} bytes", "Make it smaller.")
        try:
            depth = 0
            for event in yaml.parse(data, loader):
                if isinstance(event, yaml.AliasEvent):
                    self.fail(event, f"alias *{event.anchor}; settings must be written out")
                depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
                if depth > 16:
                    self.fail(event, "nesting deeper than 16")
            return yaml.compose(data, loader)
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            line = f" line {mark.line + 1}" if mark is not None else ""
            problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "not YAML"
            raise TeamError(Code.STORE_UNREADABLE, f"{self.path}{line}: {problem}", "Correct the YAML.") from error

    def mapping(self, node: Any, what: str, *, known: set[str] | None = None) -> dict[str, Any]:
        if getattr(node, "id", "") != "mapping":
            self.fail(node, f"{what} must be a mapping of keys to values")
        found: dict[str, Any] = {}
        for key, value in node.value:
            name = str(key.value)
            if name in found:
                self.fail(key, f"{name!r} is given twice", "Keep one of the two.")
            if known is not None and name not in known:
                meant = nearest(name, known)
                ask = f"; did you mean {meant!r}?" if meant else ""
                self.warnings.append(f"{self.path.name} line {key.start_mark.line + 1}: unknown setting {name!r}{ask}")
            if not (value.id == "scalar" and value.style is None and value.value in ("", "~", "null")):
                found[name] = value
        return found

    def text(self, node: Any, what: str) -> str:
        if node.id != "scalar" or not node.value:
            self.fail(node, f"{what} must be a text")
        return str(node.value)

    def name(self, node: Any, what: str) -> str:
        text = self.text(node, what)
        if not is_name(text) or text == ALL:
            self.fail(node, f"{what}: {text!r} is not a usable name", "Letters, digits, dots, dashes, underscores.")
        return text

    def choice(self, node: Any, what: str, words: Iterable[str]) -> str:
        text = self.text(node, what)
        if text not in words:
            self.fail(node, f"{what}: {text!r} is none of {', '.join(words)}")
        return text

    def flag(self, node: Any, what: str) -> bool:
        return self.choice(node, what, ("true", "false", "yes", "no")) in ("true", "yes")

    def count(self, node: Any, what: str) -> int:
        text = self.text(node, what).replace("_", "")
        if not (text.isascii() and text.isdigit() and int(text[:12]) > 0 and len(text) <= 12):
            self.fail(node, f"{what} must be a whole number above 0, not {text!r}")
        return int(text)

    def seconds(self, node: Any, what: str) -> float:
        try:
            value = float(self.text(node, what))
        except ValueError:
            value = -1.0
        if not 0 < value < 1e9:
            self.fail(node, f"{what} must be a number of seconds above 0")
        return value

    def sequence(self, node: Any, what: str, read: Callable[[Any, str], T]) -> list[T]:
        if node.id != "sequence":
            self.fail(node, f"{what} must be a list")
        return [read(item, what) for item in node.value]

    def words(self, node: Any, what: str) -> list[str]:
        return self.sequence(node, what, self.text)


def _agents(reader: _Reader, node: Any) -> dict[str, Agent]:
    if node is None:
        return {}
    agents: dict[str, Agent] = {}
    for place, name_node, fields in _agent_nodes(reader, node):
        name = reader.name(name_node, "agents")
        if name in agents:
            reader.fail(place, f"agent {name!r} is listed twice", "Keep one of the two.")
        agents[name] = _agent(reader, name, fields)
    return agents


def _agent_nodes(reader: _Reader, node: Any) -> Iterable[tuple[Any, Any, dict[str, Any]]]:
    if node.id == "mapping":
        for key, value in node.value:
            empty = value.id == "scalar" and not value.value
            yield key, key, {} if empty else reader.mapping(value, f"agent {key.value!r}", known=_AGENT)
        return
    for item in node.value if node.id == "sequence" else reader.fail(node, "agents must be a list"):
        if item.id == "scalar":
            yield item, item, {}
        else:
            fields = reader.mapping(item, "an agent", known=_AGENT)
            yield item, fields.get("name") or reader.fail(item, "an agent without a name"), fields


def _agent(reader: _Reader, name: str, fields: Mapping[str, Any]) -> Agent:
    plan = fields.get("plan_mode_required") or fields.get("plan")
    return Agent(
        name=name,
        role=reader.choice(fields["role"], "role", ROLES) if "role" in fields else "member",
        plan_mode_required=reader.flag(plan, "plan_mode_required") if plan is not None else False,
        deliver=tuple(reader.words(fields["deliver"], "deliver")) if "deliver" in fields else (),
        deliver_timeout=reader.seconds(fields["deliver_timeout"], "deliver_timeout")
        if "deliver_timeout" in fields
        else 30.0,
        may_message=frozenset(reader.words(fields["may_message"], "may_message")) if "may_message" in fields else None,
        may_send=frozenset(reader.words(fields["may_send"], "may_send")) if "may_send" in fields else None,
    )


def _seconds(reader: _Reader, node: Any) -> dict[str, float]:
    if node is None:
        return {}
    fields = reader.mapping(node, "overdue_seconds", known=set(OVERDUE_SECONDS))
    return {key: reader.seconds(value, f"overdue_seconds.{key}") for key, value in fields.items()}


def _priorities(reader: _Reader, top: Mapping[str, Any]) -> dict[str, str]:
    words = [str(priority) for priority in Priority]
    found: dict[str, str] = {}
    for kind, value in reader.mapping(top["message_types"], "message_types").items() if "message_types" in top else ():
        if value.id == "mapping" and "priority" in (fields := reader.mapping(value, kind)):
            found[kind] = reader.choice(fields["priority"], f"message_types.{kind}.priority", words)
    for kind, value in reader.mapping(top["priorities"], "priorities").items() if "priorities" in top else ():
        found[kind] = reader.choice(value, f"priorities.{kind}", words)
    return found


def _routes(reader: _Reader, node: Any) -> Iterable[Route]:
    if node is None:
        return
    for key, value in reader.mapping(node, "routes").items():
        fields = reader.mapping(value, f"routes.{key}")
        missing = [one for one in ("from", "to") if one not in fields]
        if missing:
            reader.fail(value, f"routes.{key} has no {missing[0]!r}")
        yield Route(
            key=key,
            trigger=reader.text(fields["trigger"], "trigger") if "trigger" in fields else "",
            sender=reader.name(fields["from"], f"routes.{key}.from"),
            recipient=reader.name(fields["to"], f"routes.{key}.to"),
            payload=tuple(reader.words(fields["payload"], f"routes.{key}.payload")) if "payload" in fields else (),
        )


def _key(reader: _Reader, node: Any) -> bytes:
    if node is None:
        return b""
    place = reader.path.parent / reader.text(node, "key_file")
    try:
        key = place.read_bytes().strip()
    except OSError as error:
        reader.fail(node, f"key_file {place}: {error.strerror}", "Make the key file readable or remove the setting.")
    if len(key) < 16:
        reader.fail(node, f"key_file {place}: a team key has at least 16 bytes", "Make one of 32 random bytes.")
    return key
