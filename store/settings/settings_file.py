"""Reads and writes `messenger-config.yaml`; what is wrong in it is noted with its line and counts as not there."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from msgspec.structs import replace
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.names import canonical, nearest
from team_console.store.settings.editing import member_lines, quoted
from team_console.store.settings.ownership import distrust, read_key, read_plain, whose
from team_console.store.settings.parsing import MAX_BYTES, SettingsReader
from team_console.store.settings.reference import LIMITS, PRIORITIES, RETENTION
from team_console.store.settings.team_config import (
    OVERDUE_SECONDS,
    Agent,
    ConfigProblem,
    Human,
    KindRule,
    Route,
    TeamConfig,
)

PROJECT_FOLDER = Path("_bmad/core/messenger")
"""Where a project root keeps its settings (seed 000, requirement 1)."""
_PROJECT_QUEUES = Path("_bmad-output/messenger")
"""Where it keeps its queue (seed 000, requirement 2)."""
_NUMBERS = tuple(setting.key for setting in (*RETENTION, *LIMITS))
_PLAIN = ("language", "wait_for_human", "spawn", "description", "version", "team_id", "signed_since")
_PLACES = (b"queue_dir", b"queue_file", b"archive_dir")
_SUFFIXES = (".yaml", ".yml")


def read_text(path: Path) -> bytes | None:
    """The text of the settings in `path`, None when there is no such file.

    Raises:
        TeamError: `STORE_UNREADABLE` naming the file, when it is there and cannot be read at all.
    """
    try:
        return read_plain(path, MAX_BYTES)[0]
    except FileNotFoundError:
        return None
    except OSError as error:
        raise TeamError(Code.STORE_UNREADABLE, f"{path}: {error.strerror}", "Check its permissions.") from error


def with_trust(config: TeamConfig, path: Path) -> TeamConfig:
    """Settings out of the file or database `path`, whose commands are run only when nobody else can write it."""
    try:
        return _trusted(config, distrust(path, os.stat(path), _folders(path)))
    except OSError as error:
        text = f"{path} cannot be looked at ({error.strerror}), so no command in the settings is run"
        return _trusted(config, ConfigProblem("CONFIG_UNTRUSTED", "warning", 0, text, "Put it back."))


def _trusted(config: TeamConfig, trouble: ConfigProblem | None) -> TeamConfig:
    runs = bool(config.spawn) or any(agent.deliver for agent in config.agents.values())
    if trouble is None or not (runs or trouble.severity == "error"):
        return config
    return replace(config, distrust=trouble.message, problems=(*config.problems, trouble))


def stamp(path: Path) -> tuple[int, ...] | None:
    """Which version of the file is there, and who may write it; None for none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns, *whose(path)


def places(path: Path) -> tuple[Path | None, Path | None]:
    """The queue and the folder of archives that the settings in `path` name, None where they name none."""
    try:
        data, _ = read_plain(path, MAX_BYTES)
    except OSError:
        return None, None
    if not any(word in data for word in _PLACES):
        return None, None
    try:
        config = parse(data, path)
    except TeamError:
        return None, None
    return config.queue, config.archives


def read_settings(path: Path) -> str:
    """The text of the settings, empty when there are none.

    Raises:
        TeamError: `STORE_UNREADABLE` when they cannot be read or are no text.
    """
    try:
        return read_plain(path, MAX_BYTES)[0].decode()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise TeamError(Code.STORE_UNREADABLE, f"{path}: {reason}", "Correct the file first.") from error


def parse(data: bytes, path: Path) -> TeamConfig:
    """The settings in the text `data` of `path` (key files are looked up beside it, places in its project).

    Raises:
        TeamError: `STORE_UNREADABLE` when it is no text, or longer than any settings.
    """
    if len(data) > MAX_BYTES:
        raise TeamError(Code.STORE_UNREADABLE, f"{path}: larger than {MAX_BYTES} bytes", "Make it smaller.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise TeamError(Code.STORE_UNREADABLE, f"{path} line {line}: not UTF-8", "Save it as UTF-8.") from error
    reader = SettingsReader()
    return _Builder(reader, reader.read(text), path).build()


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
        "agents:",
    ]
    for agent in agents:
        lines += member_lines(agent)
    return "\n".join(lines) + "\n"


def _folders(path: Path) -> list[Path]:
    """The folders through which the settings are reached, within their project."""
    inner = path.parent
    return [inner, *inner.parents[: len(PROJECT_FOLDER.parts)]] if _is_project(path) else [inner]


def _is_project(path: Path) -> bool:
    return path.parent.parts[-len(PROJECT_FOLDER.parts) :] == PROJECT_FOLDER.parts


def root_of(path: Path) -> Path:
    """The project root of the settings at `path`: what `{project-root}` in them means."""
    return path.parents[len(PROJECT_FOLDER.parts)] if _is_project(path) else path.parent


class _Builder:
    """Makes the settings of the values that were read."""

    def __init__(self, reader: SettingsReader, values: Mapping[str, Any], path: Path) -> None:
        self._reader = reader
        self._values = values
        self._path = path
        self._more: list[ConfigProblem] = []

    def build(self) -> TeamConfig:
        """The settings, with everything that is wrong in them."""
        values = self._values
        agents = {name: _agent(name, fields) for name, fields in values.get("agents", {}).items()}
        lead = values.get("lead") or _default_lead(agents)
        numbers = {**values.get("retention", {}), **values.get("limits", {}), **values}
        plain = {key: numbers[key] for key in _NUMBERS if key in numbers}
        plain |= {key: values[key] for key in _PLAIN if key in values}
        overdue = {kind: seconds for kind, (_, seconds) in values.get("overdue_seconds", {}).items()}
        priorities, ranks = self._priorities()
        queue, archives = self._places()
        key_path, key, key_trouble = self._key()
        return TeamConfig(
            name=values.get("team", "team"),
            lead=lead,
            agents=MappingProxyType(_with_lead(agents, lead)),
            declared=bool(agents),
            overdue_seconds=MappingProxyType({**OVERDUE_SECONDS, **overdue}),
            priorities=MappingProxyType(priorities),
            ranks=MappingProxyType(ranks),
            kinds=MappingProxyType(self._kinds()),
            routes=tuple(_route(name, fields) for name, fields in values.get("routing", {}).items()),
            humans=MappingProxyType(
                {canonical(name): Human(canonical(name), **fields) for name, fields in values.get("humans", {}).items()}
            ),
            verdicts=self._verdicts(),
            queue=queue,
            archives=archives,
            key_path=key_path,
            key=key,
            key_trouble=key_trouble,
            misread=frozenset(self._reader.misread),
            problems=(*self._reader.problems, *self._more),
            **plain,
        )

    def _wrong(self, line: int, text: str, hint: str, code: str = "BAD_CONFIG") -> None:
        self._more.append(ConfigProblem(code, "error", line, text, hint))

    def _verdicts(self) -> str:
        """What decides; wherever keys may have been meant, nothing but what they sign."""
        has_keys = any("keys" in fields for fields in self._values.get("humans", {}).values())
        usual = "signed" if has_keys or "humans" in self._reader.misread else "open"
        return self._values.get("verdicts", usual) or "signed"

    def _kinds(self) -> dict[str, KindRule]:
        return {
            name: KindRule(name, fields.get("description", ""), fields.get("required_fields", ()))
            for name, fields in self._values.get("message_types", {}).items()
        }

    def _priorities(self) -> tuple[dict[str, str], dict[str, int]]:
        """Kind -> priority, and priority -> its place in the order; one mapping in the settings says either."""
        kinds = self._values.get("message_types", {})
        priorities = {kind: fields["priority"] for kind, fields in kinds.items() if "priority" in fields}
        ranks: dict[str, int] = {}
        for word, (line, value) in self._values.get("priorities", {}).items():
            if value.isascii() and value.isdigit() and len(value) < 5:
                self._rank(ranks, line, word, int(value))
            elif word not in PRIORITIES and value in PRIORITIES:
                priorities[word] = value
            else:
                wanted = "a whole number" if word in PRIORITIES else f"one of {', '.join(PRIORITIES)}"
                self._wrong(line, f"priorities.{word}: {value!r} is not {wanted}", "Correct the line.")
        return priorities, ranks

    def _rank(self, ranks: dict[str, int], line: int, word: str, rank: int) -> None:
        if word in PRIORITIES:
            ranks[word] = rank
            return
        meant = nearest(word, PRIORITIES)
        ask = f"; did you mean {meant!r}?" if meant else ""
        self._wrong(line, f"priorities.{word} is not a priority{ask}", f"Priorities are {', '.join(PRIORITIES)}.")

    def _places(self) -> tuple[Path | None, Path | None]:
        root = root_of(self._path)
        usual = root / _PROJECT_QUEUES if _is_project(self._path) else root
        folder = self._place("queue_dir", root, usual, None)
        named = None if folder is None else folder / "message-queue.yaml"
        queue = self._place("queue_file", root, folder or usual, named)
        if queue is not None and (queue.suffix not in _SUFFIXES or queue == self._path):
            self._refuse_place("queue_file", f"{queue.name} is no name of a queue", "Name a .yaml file of its own.")
            queue = None
        archives = self._place(
            "archive_dir", root, folder or usual, None if queue is None else queue.parent / "archive"
        )
        beside = self._path.with_name("message-queue.yaml")
        if queue is not None and not _is_project(self._path) and queue != beside and beside.exists():
            self._refuse_place(
                "queue_file", f"{beside} is there and is used instead of {queue}", "Move one of them away."
            )
            return None, None
        return queue, archives

    def _place(self, key: str, root: Path, folder: Path, default: Path | None) -> Path | None:
        """The path a setting names; None, with a finding, where it leads out of the project."""
        text = self._values.get(key)
        if text is None:
            return default
        filled = text.replace("{project-root}", str(root)).replace("{queue_dir}", str(folder))
        if "{" in filled or "\0" in filled:
            self._refuse_place(key, f"{text!r} has a part in braces that nothing replaces", "Use {project-root}.")
            return default
        place = Path(os.path.normpath(root / filled))
        inside = Path(os.path.realpath(place)).is_relative_to(os.path.realpath(root))
        if not inside or not place.is_relative_to(root) or (place == root and key != "queue_dir"):
            self._refuse_place(key, f"{text!r} leads out of the project {root}", "Keep it inside; the default is used.")
            return default
        return place

    def _refuse_place(self, key: str, text: str, hint: str) -> None:
        self._reader.misread.add(key)
        self._wrong(self._reader.lines.get(key, 0), f"{key}: {text}", hint)

    def _key(self) -> tuple[Path | None, bytes, str]:
        """The key's file, the key, and why it cannot be used."""
        name = self._values.get("key_file")
        if name is None:
            return None, b"", ""
        path = self._path.parent / name
        try:
            return path, read_key(path), ""
        except (TeamError, ValueError) as error:
            text = error.message if isinstance(error, TeamError) else "not the name of a file"
            hint = error.hint if isinstance(error, TeamError) else "Correct the line."
            line = self._reader.lines.get("key_file", 0)
            self._wrong(line, f"key_file {text}; nothing is signed and no signature can be checked", hint, "BAD_KEY")
            return path, b"", text


def _agent(name: str, fields: Mapping[str, Any]) -> Agent:
    known = {key: fields[key] for key in _AGENT_KEYS if key in fields}
    for key in ("may_message", "may_send"):
        if key in known:
            known[key] = frozenset(map(canonical, known[key]))
    return Agent(name=name, **known)


_AGENT_KEYS = ("role", "plan_mode_required", "deliver", "deliver_timeout", "may_message", "may_send")


def _route(key: str, fields: Mapping[str, Any]) -> Route:
    return Route(key, fields.get("trigger", ""), fields["from"], fields["to"], fields.get("payload", ()))


def _default_lead(agents: Mapping[str, Agent]) -> str:
    masters = [agent.name for agent in agents.values() if agent.role == "master"]
    return masters[0] if masters else "user"


def _with_lead(agents: dict[str, Agent], lead: str) -> dict[str, Agent]:
    return agents if not agents or lead in agents else {lead: Agent(lead, role="master"), **agents}
