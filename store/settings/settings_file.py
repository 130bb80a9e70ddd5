"""Reads and writes `messenger-config.yaml`; what is wrong in it is noted with its line and counts as not there."""

from __future__ import annotations

import errno
import grp
import os
import pwd
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from msgspec import convert
from msgspec.structs import replace
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import priority_named
from team_console.store.model.names import USER, canonical
from team_console.store.model.nearest import did_you_mean
from team_console.store.settings.checking import MAX_BYTES, SettingsChecker, Values
from team_console.store.settings.table import HOISTED, PRIORITIES
from team_console.store.settings.team_config import (
    CONFIG_NAME,
    OVERDUE_SECONDS,
    QUEUE_NAME,
    Agent,
    ConfigProblem,
    Human,
    KindRule,
    Route,
    TeamConfig,
)

_KEY_BYTES = 65_536
_SHELL_PART = re.compile(r"\$[\w({]|%\w+%|(?:^|/)~(?:/|$)|^~")
"""`$HOME`, `$(pwd)`, `%USERPROFILE%`, `~/q`, `~me/q`."""
_SHELL_WORDS = "has a part that only a shell replaces"
_SHORTEST_KEY = 16
_MOST_SHOWN = 60


def read_plain(path: Path, limit: int) -> tuple[bytes, os.stat_result]:
    """Return at most `limit` + 1 bytes of a plain file and whose it is.

    Opening a pipe for reading would wait for a writer for ever, and a device may never end.

    Raises:
        OSError: It cannot be opened, or is not a plain file.
    """
    with open(path, "rb", opener=open_quietly) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a plain file", str(path))
        return file.read(limit + 1), status


def open_quietly(path: str | Path, flags: int) -> int:
    """Open for reading; the access time stays, where we own the file: who only looks leaves no trace."""
    flags |= os.O_NONBLOCK | os.O_NOCTTY
    try:
        return os.open(path, flags | getattr(os, "O_NOATIME", 0))
    except PermissionError:
        return os.open(path, flags)


def _find_distrust(path: Path) -> ConfigProblem | None:
    """Return why no command in these settings may be run: somebody else can write them. None: they may be run."""
    # Through these folders the settings are reached, within their project.
    folders = path.parents[: len(PROJECT_FOLDER.parts) + 1] if _is_in_project_folder(path) else [path.parent]
    for place in (path, *folders):
        owned = os.stat(place)
        if _can_others_write(owned):
            text = f"{place} can be written by other users, so no command in the settings is run"
            return ConfigProblem("CONFIG_UNTRUSTED", "error", 0, text, f"chmod go-w {place}")
        if owned.st_uid not in (0, os.geteuid()):
            text = f"{place} belongs to {_user_words(owned.st_uid)}, so no command in the settings is run by you"
            hint = "Let the user who runs the router own the settings and their folder."
            return ConfigProblem("CONFIG_UNTRUSTED", "warning", 0, text, hint)
    return None


def owners_of(path: Path) -> tuple[int, ...]:
    """Return owners and modes of a file and its folder, by which it is trusted or not; empty when it is not there."""
    try:
        file, folder = os.stat(path), os.stat(path.parent)
        return file.st_uid, file.st_mode, folder.st_uid, folder.st_mode
    except OSError:
        return ()


def read_key(path: Path) -> bytes:
    """Return the key in a file that only its owner can read.

    A key that its team shares may be read by the group the team's folder is shared with, and by nobody else.

    Raises:
        TeamError: `NOT_PERMITTED`: why it cannot be used, and what to do.
    """
    try:
        data, status = read_plain(path, _KEY_BYTES)
    except OSError as error:
        raise _key_refusal(f"{path}: {error.strerror}", "Make the key a plain file you can read.") from error
    if status.st_uid not in (0, os.geteuid()) and not _is_shared_with_team(path.parent, status):
        raise _key_refusal(f"{path} belongs to {_user_words(status.st_uid)}", "A key must be your own, or root's.")
    # guard: private-key-files
    if status.st_mode & 0o007 or (status.st_mode & 0o070 and not _is_shared_with_team(path.parent, status)):
        raise _key_refusal(f"{path} can be read or written by other users", f"chmod 600 {path}, and make a new key.")
    key = data.strip()
    if not _SHORTEST_KEY <= len(key) <= _KEY_BYTES:
        text = f"{path}: a key has {_SHORTEST_KEY} to {_KEY_BYTES} bytes"
        raise _key_refusal(text, "Make one of 32 random bytes.")
    return key


def _key_refusal(text: str, hint: str) -> TeamError:
    return TeamError(Code.NOT_PERMITTED, text, hint)


def _can_others_write(status: os.stat_result) -> bool:
    """Return whether other users can write there.

    A folder with the sticky bit keeps what is in it from others; a group of its owner alone is no other.
    """
    if stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX:
        return False
    return bool(status.st_mode & 0o002) or (bool(status.st_mode & 0o020) and not _is_own_group(status))


def _is_own_group(status: os.stat_result) -> bool:
    """Return whether the group is the owner's private one, as most distributions make it."""
    try:
        owner, group = pwd.getpwuid(status.st_uid), grp.getgrgid(status.st_gid)
    except KeyError:
        return False
    return owner.pw_gid == status.st_gid and set(group.gr_mem) <= {owner.pw_name}


def _is_shared_with_team(folder: Path, status: os.stat_result) -> bool:
    """Return whether the file is for the group that may write its folder, and not for everybody."""
    shared = os.stat(folder)
    return bool(shared.st_mode & 0o020) and shared.st_gid == status.st_gid and not shared.st_mode & 0o002


def _user_words(uid: int) -> str:
    try:
        return f"{pwd.getpwuid(uid).pw_name} ({uid})"
    except KeyError:
        return f"user {uid}"


PROJECT_FOLDER = Path("_bmad/core/messenger")
"""Where a project root keeps its settings (seed 000, requirement 1)."""
PROJECT_QUEUES = Path("_bmad-output/messenger")
"""Where it keeps its queue (seed 000, requirement 2)."""
_COPIED_AS_THEY_ARE = (
    *("language", "wait_for_human", "ask_for", "spawn", "description", "version", "team_id", "signed_since"),
    *(setting.key for setting in HOISTED),
)
_QUEUE_SUFFIXES = (".yaml", ".yml")
_OTHER_TEAM_HINT = "Name another folder: what one team wrote there would count as the other's. The default is used."


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
        trouble = _find_distrust(path)
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


def configured_places(path: Path) -> tuple[Path | None, Path | None]:
    """Return the queue and the folder of archives that the settings in `path` name, None where they name none."""
    try:
        config = parse_settings(read_plain(path, MAX_BYTES)[0], path)
    except (OSError, TeamError):
        return None, None
    return config.queue, config.archives


def read_settings(path: Path) -> str:
    """Return the text of the settings, empty when there are none.

    Raises:
        TeamError: `STORE_UNREADABLE` when they cannot be read or are no text.
    """
    try:
        return (settings_bytes(path) or b"").decode()
    except UnicodeDecodeError as error:
        raise TeamError(Code.STORE_UNREADABLE, f"{path}: not UTF-8", "Correct the file first.") from error


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


def _is_in_project_folder(path: Path) -> bool:
    return path.parent.parts[-len(PROJECT_FOLDER.parts) :] == PROJECT_FOLDER.parts


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
                self.note(self.lines[path], f"{path}: {value!r} is not {wanted}{ask}")
        return priorities, ranks

    def _find_places(self) -> tuple[Path | None, Path | None]:
        """Return queue and archives that the settings name; None for the usual places, and in place of refused ones."""
        is_project = _is_in_project_folder(self._path)
        root = self._path.parents[len(PROJECT_FOLDER.parts)] if is_project else self._path.parent
        usual = root / PROJECT_QUEUES if is_project else root
        folder = self._resolve_place("queue_dir", root, usual, None)
        named = None if folder is None else folder / QUEUE_NAME
        queue = self._resolve_place("queue_file", root, folder or usual, named)
        if queue is not None and (queue.suffix not in _QUEUE_SUFFIXES or queue == self._path):
            self._refuse_place("queue_file", f"{queue.name} is no name of a queue", "Name a .yaml file of its own.")
            queue = None
        if queue is not None and (mark := self._team_with_trail_in(root, queue)):
            key = "queue_file" if "queue_file" in self.values else "queue_dir"
            self._refuse_place(key, f"{queue.parent} is the folder of another team ({mark})", _OTHER_TEAM_HINT)
            queue = None
        beside = None if queue is None else queue.parent / "archive"
        archives = self._resolve_place("archive_dir", root, folder or usual, beside)
        if archives is not None and (mark := self._team_with_archives_in(root, archives, queue or usual / QUEUE_NAME)):
            self._refuse_place("archive_dir", f"{archives} has the archives of another team ({mark})", _OTHER_TEAM_HINT)
            archives = beside
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
        for mark, theirs, _ in self._teams_below(root, queue.parent):
            # guard: trail-of-one-team
            if _is_same(theirs.parent, queue.parent) and not _is_same(theirs, queue):
                return mark
        return None

    def _team_with_archives_in(self, root: Path, archives: Path, queue: Path) -> Path | None:
        """Return what tells of a team with another queue whose archives these are; None without one."""
        for mark, theirs, kept in self._teams_below(root, archives):
            # guard: archives-of-one-team
            if _is_same(kept, archives) and not _is_same(theirs, queue):
                return mark
        return None

    def _teams_below(self, root: Path, place: Path) -> Iterator[tuple[Path, Path, Path]]:
        """Yield of each other team on the way from `root` to `place` what tells of it, its queue and its archives.

        Every place of a team is inside its project, so whoever shares one with us stands on that way.
        """
        real, top = Path(os.path.realpath(place)), Path(os.path.realpath(root))
        for folder in (real, *real.parents):
            if not folder.is_relative_to(top) or folder == top:
                return
            project = folder / PROJECT_QUEUES
            for mark, home in ((folder / CONFIG_NAME, folder), (folder / PROJECT_FOLDER / CONFIG_NAME, project)):
                # Beside the queue of a project nobody reads settings.
                is_read = not (_is_in_project_folder(self._path) and folder == top / PROJECT_QUEUES)
                if is_read and os.path.isfile(mark) and not _is_same(mark, self._path):
                    queue, archives = configured_places(mark)
                    queue = queue or home / QUEUE_NAME
                    yield mark, queue, archives or queue.parent / "archive"
            if os.path.isfile(folder / QUEUE_NAME):
                yield folder / QUEUE_NAME, folder / QUEUE_NAME, folder / "archive"

    def _refuse_place(self, key: str, text: str, hint: str) -> None:
        self.misread.add(key)
        self.note(self.lines.get(key, 0), f"{key}: {text}", hint)

    def _load_key(self) -> tuple[Path | None, bytes, str]:
        """Return the key's file, the key, and why it cannot be used."""
        name = self.values.get("key_file")
        if name is None:
            return None, b"", ""
        path = self._path.parent / name
        # guard: key-file-that-names-no-file
        if "\0" in name:
            self.note(self.lines["key_file"], "key_file: no file has a NUL in its name", "Correct the line.", "BAD_KEY")
            return None, b"", "no file has a NUL in its name"
        try:
            if _needs_shell(name):
                raise _key_refusal(f"{name!r} {_SHELL_WORDS}", "Write the path out.")
            return path, read_key(path), ""
        except TeamError as error:
            text, hint = error.message, error.hint
        except ValueError:
            text, hint = "not the name of a file", "Correct the line."
        told = f"key_file {text}; nothing is signed and no signature can be checked"
        self.note(self.lines["key_file"], told, hint, "BAD_KEY")
        return path, b"", text


def _is_same(place: Path, other: Path) -> bool:
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
    spelt: Values = {
        key: frozenset(map(canonical, fields[key])) for key in ("may_message", "may_send") if key in fields
    }
    return convert({**fields, **spelt}, Agent)
