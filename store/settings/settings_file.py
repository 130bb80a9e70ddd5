"""Make the settings of a team of the text of their file: checked values, places inside of its project, and its key.

Last: read that text from `messenger-config.yaml`, with its version, and whether its commands may be run.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from pathlib import Path

from msgspec import convert
from msgspec.structs import replace
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import priority_named
from team_console.store.model.names import USER, canonical, did_you_mean
from team_console.store.settings.checking import MAX_BYTES, SettingsChecker, Values
from team_console.store.settings.file_trust import (
    find_distrust,
    key_refusal,
    owners_of,
    read_key,
    read_plain,
)
from team_console.store.settings.table import HOISTED, PRIORITIES
from team_console.store.settings.team_config import (
    CONFIG_NAME,
    OVERDUE_SECONDS,
    PROJECT_FOLDER,
    PROJECT_QUEUES,
    QUEUE_NAME,
    Agent,
    ConfigProblem,
    Human,
    KindRule,
    Route,
    TeamConfig,
    is_in_project_folder,
)

_SHELL_PART = re.compile(r"\$[\w({]|%\w+%|(?:^|/)~(?:/|$)|^~")
"""`$HOME`, `$(pwd)`, `%USERPROFILE%`, `~/q`, `~me/q`."""
_SHELL_WORDS = "has a part that only a shell replaces"
_MOST_SHOWN = 60
"""Characters of a path that a finding shows."""
_COPIED_AS_THEY_ARE = (
    *("language", "wait_for_human", "ask_for", "spawn", "description", "version", "team_id", "signed_since"),
    *(setting.key for setting in HOISTED),
)
_QUEUE_SUFFIXES = (".yaml", ".yml")
_OTHER_TEAM_HINT = "Name another folder: what one team wrote there would count as the other's. The default is used."


def configured_places(path: Path) -> tuple[Path | None, Path | None]:
    """Return the queue and the folder of archives that the settings in `path` name, None where they name none."""
    try:
        config = parse_settings(read_plain(path, MAX_BYTES)[0], path)
    except (OSError, TeamError):
        return None, None
    return config.queue, config.archives


def parse_settings(data: bytes, path: Path) -> TeamConfig:
    """Return the settings in the text `data` of `path` (key files are looked up beside it, places in its project).

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
    return _ConfigBuilder(path).build(text)


def settings_in(data: bytes) -> TeamConfig:
    """Return the settings in a text that is no file's: neither a key nor a place is looked for.

    Raises:
        TeamError: As for `parse_settings`.
    """
    return parse_settings(data, Path("/nonexistent") / CONFIG_NAME)


class _ConfigBuilder(SettingsChecker):
    """Makes the settings of the text of one file."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def build(self, text: str) -> TeamConfig:
        """Return the settings, with everything that is wrong in them."""
        self.read(text)
        values = self.values
        named = {**values.get("retention", {}), **values.get("limits", {}), **values}
        agents = {name: _agent_of(fields) for name, fields in values.get("agents", {}).items()}
        lead = values.get("lead") or next((one.name for one in agents.values() if one.role == "master"), USER)
        if agents and lead not in agents:
            agents = {lead: Agent(lead, role="master"), **agents}
        humans = {canonical(name): fields for name, fields in values.get("humans", {}).items()}
        # Wherever keys may have been meant, nothing but what they sign decides.
        has_keys = "humans" in self.misread or any("keys" in fields for fields in humans.values())
        kinds = values.get("message_types", {})
        priorities, ranks = self._priorities()
        queue, archives = self._find_places()
        key_path, key, key_trouble = self._load_key()
        return TeamConfig(
            **{key: named[key] for key in _COPIED_AS_THEY_ARE if key in named},
            name=values.get("team", "team"),
            lead=lead,
            agents=agents,
            declared=bool(agents),
            overdue_seconds={**OVERDUE_SECONDS, **values.get("overdue_seconds", {})},
            priorities={**{kind: said["priority"] for kind, said in kinds.items() if "priority" in said}, **priorities},
            ranks=ranks,
            kinds={kind: convert({"name": kind, **said}, KindRule) for kind, said in kinds.items()},
            routes=tuple(convert({"key": key, **said}, Route) for key, said in values.get("routing", {}).items()),
            humans={name: Human(name, **fields) for name, fields in humans.items()},
            # A wrong value is an empty set, since the setting is `closed`; it counts as the stricter word.
            verdicts=values.get("verdicts", "signed" if has_keys else "open") or "signed",
            queue=queue,
            archives=archives,
            key_path=key_path,
            key=key,
            key_trouble=key_trouble,
            misread=frozenset(self.misread),
            is_yaml=self.is_yaml,
            problems=tuple(self.problems),
            values=values,
        )

    def _priorities(self) -> tuple[dict[str, str], dict[str, int]]:
        """Return kind -> priority, and priority -> its place in the order; one mapping in the settings says either."""
        priorities: dict[str, str] = {}
        ranks: dict[str, int] = {}
        for word, value in self.values.get("priorities", {}).items():
            is_priority = word in PRIORITIES
            if is_priority and value.isascii() and value.isdigit() and len(value) < 5:
                ranks[word] = int(value)
            elif not is_priority and (named := priority_named(value)) is not None:
                priorities[word] = str(named)
            else:
                wanted = "a whole number" if is_priority else f"one of {', '.join(PRIORITIES)}"
                ask = "" if is_priority else did_you_mean(word, PRIORITIES)
                path = f"priorities.{word}"
                self.note_wrong(path, f"{path}: {value!r} is not {wanted}{ask}")
        return priorities, ranks

    def _find_places(self) -> tuple[Path | None, Path | None]:
        """Return queue and archives that the settings name; None for the usual places, and in place of refused ones."""
        # The queue first: a folder, a file in it, and whether that may be the queue of this team.
        is_project = is_in_project_folder(self._path)
        root = self._path.parents[len(PROJECT_FOLDER.parts)] if is_project else self._path.parent
        usual = root / PROJECT_QUEUES if is_project else root
        folder = self._resolve_place("queue_dir", root, usual, None)
        named = None if folder is None else folder / QUEUE_NAME
        queue = self._resolve_place("queue_file", root, folder or usual, named)
        if queue is not None and (queue.suffix not in _QUEUE_SUFFIXES or queue == self._path):
            self._refuse_place("queue_file", f"{queue.name} is no name of a queue", "Name a .yaml file of its own.")
            queue = None
        if queue is not None and (told_by := self._team_with_trail_in(root, queue)):
            key = "queue_file" if "queue_file" in self.values else "queue_dir"
            self._refuse_place(key, f"{queue.parent} is the folder of another team ({told_by})", _OTHER_TEAM_HINT)
            queue = None
        # The archives, by default beside a queue that is named.
        beside = None if queue is None else queue.parent / "archive"
        archives = self._resolve_place("archive_dir", root, folder or usual, beside)
        if archives is not None and (
            told_by := self._team_with_archives_in(root, archives, queue or usual / QUEUE_NAME)
        ):
            self._refuse_place(
                "archive_dir", f"{archives} has the archives of another team ({told_by})", _OTHER_TEAM_HINT
            )
            archives = beside
        # A queue beside settings that are in no project counts before the one they name.
        other = self._path.with_name(QUEUE_NAME)
        if queue is not None and not is_project and queue != other and other.exists():
            text = f"{other} is there and is used instead of {queue}"
            self._refuse_place("queue_file", text, "Move one of them away.")
            return None, None
        return queue, archives

    def _resolve_place(self, key: str, root: Path, folder: Path, default: Path | None) -> Path | None:
        """Return the path a setting names; None, with a finding, where it leads out of the project."""
        text = self.values.get(key)
        if text is None:
            return default
        filled = text.replace("{project-root}", str(root)).replace("{queue_dir}", str(folder))
        if "{" in filled or "\0" in filled:
            self._refuse_place(key, f"{text!r} has a part in braces that nothing replaces", "Use {project-root}.")
            return default
        if _needs_shell(text):
            hint = "Write the path out; {project-root} stands for the folder of the project."
            self._refuse_place(key, f"{text!r} {_SHELL_WORDS}", hint)
            return default
        place = Path(os.path.normpath(root / filled))
        # guard: place-with-a-name-too-long
        if _is_too_long(place):
            self._refuse_place(key, f"{text[:_MOST_SHOWN]!r}... is too long for a name of a file", "Shorten it.")
            return default
        inside = Path(os.path.realpath(place)).is_relative_to(os.path.realpath(root))
        # guard: places-inside-project
        if not inside or not place.is_relative_to(root) or (place == root and key != "queue_dir"):
            self._refuse_place(key, f"{text!r} leads out of the project {root}", "Keep it inside; the default is used.")
            return default
        return place

    def _team_with_trail_in(self, root: Path, queue: Path) -> Path | None:
        """Return what tells of another team whose queue is in the folder of this one; None without one."""
        for told_by, theirs, _ in self._teams_below(root, queue.parent):
            # guard: trail-of-one-team
            if _is_same(theirs.parent, queue.parent) and not _is_same(theirs, queue):
                return told_by
        return None

    def _team_with_archives_in(self, root: Path, archives: Path, queue: Path) -> Path | None:
        """Return what tells of a team with another queue whose archives these are; None without one."""
        for told_by, theirs, kept in self._teams_below(root, archives):
            # guard: archives-of-one-team
            if _is_same(kept, archives) and not _is_same(theirs, queue):
                return told_by
        return None

    def _teams_below(self, root: Path, place: Path) -> Iterator[tuple[Path, Path, Path]]:
        """Yield of each other team on the way from `root` to `place` what tells of it, its queue and its archives.

        Every place of a team is inside its project, so whoever shares one with us stands on that way.

        To read their settings (`configured_places`) is to look for other teams on their way in turn. That ends: their
        project lies further in than ours, and only what is below it is looked at.
        """
        real, top = Path(os.path.realpath(place)), Path(os.path.realpath(root))
        for folder in (real, *real.parents):
            if not folder.is_relative_to(top) or folder == top:
                return
            project = folder / PROJECT_QUEUES
            for told_by, home in ((folder / CONFIG_NAME, folder), (folder / PROJECT_FOLDER / CONFIG_NAME, project)):
                # Beside the queue of a project nobody reads settings.
                is_read = not (is_in_project_folder(self._path) and folder == top / PROJECT_QUEUES)
                if is_read and os.path.isfile(told_by) and not _is_same(told_by, self._path):
                    queue, archives = configured_places(told_by)
                    queue = queue or home / QUEUE_NAME
                    yield told_by, queue, archives or queue.parent / "archive"
            if os.path.isfile(folder / QUEUE_NAME):
                yield folder / QUEUE_NAME, folder / QUEUE_NAME, folder / "archive"

    def _refuse_place(self, key: str, text: str, hint: str) -> None:
        """Note that the place which a setting names is not used, and why."""
        self.misread.add(key)
        self.note_wrong(key, f"{key}: {text}", hint)

    def _load_key(self) -> tuple[Path | None, bytes, str]:
        """Return the key's file, the key, and why it cannot be used."""
        name = self.values.get("key_file")
        if name is None:
            return None, b"", ""
        path = self._path.parent / name
        # guard: key-file-that-names-no-file
        if "\0" in name:
            self.note_wrong("key_file", "key_file: no file has a NUL in its name", code="BAD_KEY")
            return None, b"", "no file has a NUL in its name"
        try:
            if _needs_shell(name):
                raise key_refusal(f"{name!r} {_SHELL_WORDS}", "Write the path out.")
            return path, read_key(path), ""
        except TeamError as error:
            text, hint = error.message, error.hint
        except ValueError:
            text, hint = "not the name of a file", "Correct the line."
        told = f"key_file {text}; nothing is signed and no signature can be checked"
        self.note_wrong("key_file", told, hint, "BAD_KEY")
        return path, b"", text


def _is_same(place: Path, other: Path) -> bool:
    """Return whether two paths lead to the same place, whatever links are on the way."""
    return os.path.realpath(place) == os.path.realpath(other)


def _is_too_long(place: Path) -> bool:
    """Return whether the file system has no name so long: nothing there could ever be looked at."""
    try:
        os.lstat(place)
    except OSError as error:
        return error.errno == errno.ENAMETOOLONG
    return False


# guard: shell-words-in-places-refused
def _needs_shell(path: str) -> bool:
    """Return whether a path would be a folder named `~` or `$HOME` if it were taken as it is."""
    return _SHELL_PART.search(path) is not None


def _agent_of(fields: Values) -> Agent:
    """Return a member by its checked settings; names of others in it get their one spelling."""
    spelt: Values = {
        key: frozenset(map(canonical, fields[key])) for key in ("may_message", "may_send") if key in fields
    }
    return convert({**fields, **spelt}, Agent)


def settings_bytes(path: Path) -> bytes | None:
    """Return the text of the settings in `path`, None when there is no such file.

    Raises:
        TeamError: `STORE_UNREADABLE` naming the file, when it is there and cannot be read at all.
    """
    try:
        return read_plain(path, MAX_BYTES)[0]
    except FileNotFoundError:
        return None
    except OSError as error:
        hint = "Check its permissions." if isinstance(error, PermissionError) else "Look into the cause and repeat it."
        raise TeamError(Code.STORE_UNREADABLE, f"{path}: {error.strerror}", hint) from error


def with_command_trust(config: TeamConfig, path: Path) -> TeamConfig:
    """Return settings out of the file or database `path` that run commands only when nobody else can write it."""
    try:
        trouble = find_distrust(path)
    except OSError as error:
        text = f"{path} cannot be looked at ({error.strerror}), so no command in the settings is run"
        trouble = ConfigProblem("CONFIG_UNTRUSTED", "warning", 0, text, "Put it back.")
    runs = bool(config.spawn) or any(agent.deliver for agent in config.agents.values())
    if trouble is None or not (runs or trouble.severity == "error"):
        return config
    return replace(config, distrust=trouble.message, problems=(*config.problems, trouble))


def settings_version(path: Path) -> tuple[int, ...] | None:
    """Return the version of the file and who may write it; None without a file."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns, *owners_of(path)


def read_settings(path: Path) -> str:
    """Return the text of the settings, empty when there are none.

    Raises:
        TeamError: `STORE_UNREADABLE` when they cannot be read or are no text.
    """
    try:
        return (settings_bytes(path) or b"").decode()
    except UnicodeDecodeError as error:
        raise TeamError(Code.STORE_UNREADABLE, f"{path}: not UTF-8", "Correct the file first.") from error
