"""Session files: what one event of a client's session leaves on this machine for the next one, so that it costs little.

They are hints: everything that counts is in the store, and a file that is lost only costs time. Each is written by
rename, so that none is ever half. Only modules that every Python start has loaded anyway, and `json`, are imported.

In `state_subfolder` are `sessions/`, a folder for each session (`files_of`), `members/`, one for what all sessions of
an agent share (`member_folder`), and `named/`, a file for each session that `join --all` gave a name (`name_files`).
"""

from __future__ import annotations

import json
import os
import time
import zlib

from team_console.store.backends.session_notes import write_whole

TYPE_CHECKING = False  # `typing` would cost each event 5 ms
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from typing import Any

MOST_DAYS = 14
"""Days after which the files of a session that never said its end are thrown away."""

# Names of the files, or how they begin. Each holds an object of JSON; what it says stands where it is written.

LOOK = "look"
"""What is known of the store, and how to see that it still holds."""
HANDED = "handed-"
"""One for each process that took mail for an agent of the session: what it took, and whether it told the client."""
TURN = "turn"
"""There from the first prompt on; counts how often a turn was kept from ending."""
RECORDED = "recorded"
"""There where the store has something of the session that its end changes."""
STATE = "state"
"""What the session does now, and since when."""
QUIET = "quiet"
"""Of a member: there, and of the same time as the team's settings, where the member is asked for nothing unless a
console is open. The shell before the hook looks for it.
"""
REFUSED = "refused-"
"""One for each call that the client refused by itself while nobody was there who could have been asked."""
ASKED = "asked-"
"""One for each request for which a hook of the session waits."""
ALLOWED = "allowed-"
"""One for each call that the human allows once although the client denied it."""
PASSED = "passed-"
"""One for each call that a human let pass and that was not used yet, by what it is."""
HELD = "held-"
"""One for each call that a hook holds until somebody decides, by the client's own id of the call."""
TEAMMATE = "teammate-"
"""What each teammate was last noted to be doing."""
_KEYS_NEEDED = {
    # To whom of the session, ids of messages, by which process, when (seconds of the clock), whether it was said.
    HANDED: {"agent", "thread", "ids", "by", "at", "said"},
    ASKED: {"request_id", "thread"},
    TEAMMATE: {"doing", "name"},
}
"""What each file that begins so has to say; another is passed over."""


class SessionFiles:
    """The files of one session of one agent of one team."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def read(self, name: str) -> dict[str, Any] | None:
        """Return one file; None when it is not there or not to be read."""
        try:
            with open(os.path.join(self.folder, name), encoding="utf-8") as file:
                value = json.load(file)
        except (OSError, ValueError):
            return None
        return value if isinstance(value, dict) else None

    def write(self, name: str, value: dict[str, Any]) -> None:
        """Write one file; on a machine that cannot keep it later events only take longer."""
        try:
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
            write_whole(os.path.join(self.folder, name), value)
        except OSError:
            return

    def set_time(self, name: str, time_ns: int) -> None:
        """Give a file the time of another, so that a shell can tell whether that one changed since."""
        try:
            os.utime(os.path.join(self.folder, name), ns=(time_ns, time_ns))
        except OSError:
            return

    def remove(self, name: str) -> None:
        """Take a file away."""
        try:
            os.unlink(os.path.join(self.folder, name))
        except OSError:
            return

    def take(self, prefix: str) -> bool:
        """Take away one of the files that begin so; returns whether this did it."""
        for name in self.names(prefix):
            try:
                os.unlink(os.path.join(self.folder, name))
            except OSError:  # another event took it
                continue
            return True
        return False

    def names(self, prefix: str | tuple[str, ...]) -> list[str]:
        """Return the names of the session's files that begin with `prefix`, or with one of several."""
        try:
            return sorted(name for name in os.listdir(self.folder) if name.startswith(prefix) and name[-4:] != ".tmp")
        except OSError:
            return []

    def all(self, prefix: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield name and content of each file that begins with `prefix` and can be read, with all that it has to
        say.
        """
        for name in self.names(prefix):
            known = self.read(name)
            # guard: harmed-file-of-a-session-is-none
            if known is not None and known.keys() >= _KEYS_NEEDED.get(prefix, set()):
                yield name, known

    def forget(self) -> None:
        """Remove all files of the session, which is over."""
        _remove_folder(self.folder)


def files_of(session: str, agent: str, location: str) -> SessionFiles:
    """Return the files of a session; of one whose id cannot be a name there never are any."""
    if not is_session_id(session):
        return SessionFiles(os.path.join(os.devnull, "none"))
    return SessionFiles(os.path.join(state_subfolder("sessions"), f"{session}-{agent_prefix(agent, location)}"))


def is_session_id(session: str) -> bool:
    """Return whether a client's id of a session can be the name of a file."""
    plain = session.replace("-", "").replace("_", "")
    return plain.isalnum() and plain.isascii() and len(session) <= 80


def state_subfolder(kind: str) -> str:
    """Return a folder of ours in `XDG_STATE_HOME/team-console`, by default below `~/.local/state`; without a home a
    path below `/dev/null`, at which nothing can be made.

    What is kept there counts for nothing that fails without it.
    """
    base = os.environ.get("XDG_STATE_HOME", "")
    base = base if os.path.isabs(base) else os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(base if os.path.isabs(base) else os.devnull, "team-console", kind)


def member_folder(agent: str, location: str) -> str:
    """Return the folder of what all sessions of an agent of one team share."""
    return os.path.join(state_subfolder("members"), agent_prefix(agent, location))


def absolute_location(location: str) -> str:
    """Return the location of a team as it is from every folder: a server is not below the current one."""
    is_on_server = "://" in location and not location.startswith("sqlite:")
    return location if is_on_server else os.path.abspath(location)


def agent_prefix(agent: str, location: str) -> str:
    """Return the checksum of an agent and its team, 8 digits by which the names of its files begin or end."""
    words = f"{agent}\0{absolute_location(location)}"
    return f"{zlib.crc32(words.encode('utf-8', 'replace')):08x}"


def has_in_any_session(prefix: str, agent: str, location: str) -> bool:
    """Return whether any session of an agent left a file whose name begins so."""
    base, ends = state_subfolder("sessions"), f"-{agent_prefix(agent, location)}"
    folders = SessionFiles(base).names("")
    return any(SessionFiles(os.path.join(base, name)).names(prefix) for name in folders if name.endswith(ends))


# Names of sessions that joined by `join --all`: one file for each, so that every event knows whose it is at no cost.

EVERY_SESSION = "*"
"""Stands for the name in the command of a hook that is every session's: each acts under a name of its own."""
LEFT_OUT = "left-out-"
"""Begins the marks of sessions that do not join with the others."""


def name_files() -> SessionFiles:
    """Return the folder with one file for each named session."""
    return SessionFiles(state_subfolder("named"))


def name_of_session(session: str) -> str | None:
    """Return the name of a session, empty for one that was left out; None for one that has none yet."""
    if not is_session_id(session) or name_files().names(LEFT_OUT + session):
        return ""
    known = name_files().read(session)
    return None if known is None or "name" not in known else str(known["name"])


def sweep() -> None:
    """Remove files, records and names of sessions that were killed more than `MOST_DAYS` days ago."""
    _sweep_folder(state_subfolder("sessions"))
    _sweep_folder(state_subfolder("runs"))
    # A session that goes on keeps its name, however old. Behind its id the name of its folder has a dash and 8 digits.
    going_on = {name[:-9] for name in SessionFiles(state_subfolder("sessions")).names("")}
    _sweep_folder(state_subfolder("named"), kept=going_on)


def _sweep_folder(folder: str, kept: Collection[str] = ()) -> None:
    """Remove what is older than `MOST_DAYS` days in a folder, but for what has one of these names."""
    oldest = time.time() - MOST_DAYS * 86_400
    try:
        for entry in os.scandir(folder):
            if entry.name in kept or entry.stat(follow_symlinks=False).st_mtime >= oldest:
                continue
            if entry.is_dir(follow_symlinks=False):
                _remove_folder(entry.path)
            else:
                os.unlink(entry.path)
    except OSError:
        return


def _remove_folder(folder: str) -> None:
    """Take away a folder of plain files. (`shutil` would cost each event its import.)"""
    try:
        for entry in os.scandir(folder):
            os.unlink(entry.path)
        os.rmdir(folder)
    except OSError:
        return


def checksum_of(value: object) -> int:
    """Return the checksum of a tool's input, equal for equal inputs."""
    return zlib.crc32(json.dumps(value, sort_keys=True).encode("utf-8", "backslashreplace"))


def passed_file(tool: object, given: object, thread: object) -> str:
    """Return how the names of files begin that say that such a call was let pass.

    Args:
        given: What the tool is called with.
        thread: In which thread of the session; empty or None for the session itself.
    """
    return f"{PASSED}{checksum_of([tool, given, thread or '']):08x}-"


EventData = dict[str, object]
"""An event of a client as it gives it."""
