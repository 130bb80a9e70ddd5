"""Places: the files in which a client keeps its settings, the changes there by which a member joins or leaves, and the
receipts of what joins made on this machine, so that a leave takes out that and nothing else.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from team_console.console.clients.file_change import FileChange, read_file, refused
from team_console.console.clients.json_editing import NotEditable, Notes, Settings, SettingsPart, parse_object, value_at
from team_console.console.clients.session_files import EVERY_SESSION, SessionFiles
from team_console.console.clients.settings_part import (
    SERVER,
    SERVERS,
    Earlier,
    edit_settings,
    find_nothing_earlier,
    hook_command,
    hooks_of,
    members_in,
)
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.home import state_folder


class JoinReceipt(Struct, omit_defaults=True):
    """What a join made in one file, or of one member, kept in `XDG_STATE_HOME/team-console/joined`.

    Lost, it only costs precision.

    Attributes:
        member, team: Who joined which team.
        file: Where; empty for the member itself in the team's settings.
        notes: What was put there that was not there before.
        is_new: Whether there was no such file before.
        blank: The white space that the file was; None where it said something.
        each: Whether `join --all` made it.
        events: Those at which hooks of ours were written there, each as often as there are such hooks.
        folders: Those that were made for the file.
    """

    member: str
    team: str
    file: str = ""
    notes: Notes = []
    is_new: bool = False
    blank: str | None = None
    each: bool = False
    events: list[str] = []
    folders: list[str] = []


def _receipts() -> SessionFiles:
    return SessionFiles(str(state_folder() / "joined"))


def receipts() -> Iterator[JoinReceipt]:
    """Yield everything that joins made on this machine, as far as it is known."""
    yield from filter(None, map(_read_receipt, _receipts().names("")))


def receipt_of(key: str) -> JoinReceipt | None:
    """Return the receipt of a file, or of a member; None when nothing is known.

    An earlier version kept it under the link by which somebody came to the project.
    """
    known = _read_receipt(_file_of(key))
    # guard: receipt-behind-a-link-found
    return next((each for each in receipts() if _real_key(each) == key), None) if known is None else known


def keep_receipt(receipt: JoinReceipt) -> None:
    """Remember what was made."""
    _receipts().write(_file_of(_key_of(receipt)), msgspec.to_builtins(receipt))


def forget_receipt(key: str) -> None:
    """It was taken out again."""
    for known in list(receipts()):
        if key in (_key_of(known), _real_key(known)):
            _receipts().remove(_file_of(_key_of(known)))


def member_key(team: str, name: str) -> str:
    """Return the key of the receipt for a member that was added to a team's settings."""
    return f"member {team} {name}"


def _key_of(receipt: JoinReceipt) -> str:
    return receipt.file or member_key(receipt.team, receipt.member)


def _real_key(receipt: JoinReceipt) -> str:
    """Return the key under which a join of now keeps the receipt: no link is part of it."""
    file, team = (os.path.realpath(path) if os.path.isabs(path) else path for path in (receipt.file, receipt.team))
    return file or member_key(team, receipt.member)


def _file_of(key: str) -> str:
    return f"{hashlib.sha256(key.encode('utf-8', 'surrogateescape')).hexdigest()[:24]}.json"


def _read_receipt(file: str) -> JoinReceipt | None:
    with suppress(msgspec.ValidationError):
        return msgspec.convert(_receipts().read(file), JoinReceipt)
    return None


@contextmanager
def one_join_at_a_time(*, write: bool) -> Iterator[None]:
    """Let no other join or leave of this user change files in the block; a block that writes nothing waits for none.

    Where no lock can be kept, the block runs without.

    Two that begin at once would each not see what the other makes: one that fails then would take its team away.
    """
    with ExitStack() as held:
        if write:
            with suppress(OSError):
                state_folder().mkdir(parents=True, exist_ok=True)
                lock = held.enter_context(open(state_folder() / "join.lock", "a", encoding="utf-8"))
                # guard: one-join-at-a-time
                fcntl.flock(lock, fcntl.LOCK_EX)
        yield


# Places: the files of clients that change.


EMPTY_JSON = "{}\n"
_BYTE_ORDER_MARK = "\ufeff"
"""The byte order mark that editors on Windows write; it stays."""
_OUR_SIGNS = ("TEAM_CONSOLE_AS", "team-console: ")
"""One of them stands in every file that has something of a join: hooks and servers name who acts, blocks are marked."""

Edit = Callable[[str, Notes | None, bool], tuple[str, Notes]]
"""A text, what a join made there (None: nobody knows), whether it joins -> the text after, what is made there now."""


class Joining(Struct, frozen=True):
    """Who joins which team, by which program, in which project.

    Attributes:
        instructions: What a shell's agent must know.
        hold: Rules of the team for what the client is told to hold until somebody decides.
        has_server: Whether our MCP server can start.
        quiet: Words for a shell that spare the hook before a tool where nobody is asked.
        leaves: Whether the member leaves: every file counts then that may have something of it.
    """

    name: str
    location: str
    program: tuple[str, ...]
    project: Path
    instructions: str = ""
    hold: tuple[str, ...] = ()
    has_server: bool = True
    quiet: str = ""
    leaves: bool = False

    @property
    def command(self) -> list[str]:
        """The words that call the hook."""
        return hook_command(self.program, name=self.name, location=self.location)

    @property
    def server(self) -> Settings:
        """The entry of our MCP server."""
        environment = {"TEAM_CONSOLE_AS": self.name, "TEAM_CONSOLE_TEAM": self.location}
        return {"command": self.program[0], "args": [*self.program[1:], "mcp"], "env": environment}

    def servers(self, **more: Any) -> list[SettingsPart]:
        """Return our MCP server as settings in JSON have it; nothing where it cannot start.

        Args:
            more: What else a client wants to know of a server.
        """
        return [SettingsPart([SERVERS], {**self.server, **more}, SERVER)] if self.has_server else []


class Place(Struct, frozen=True):
    """One file of a client.

    Attributes:
        home: The folder it must not lead out of.
        edit: Puts our part in, or takes it out.
        empty: What an absent file counts as.
        is_optional: Whether a member joins without it where it cannot be edited.
        member: Who joins or leaves; what a join of another made there does not count.
    """

    path: Path
    home: Path
    edit: Edit
    empty: str = ""
    is_optional: bool = False
    member: str = ""

    def join_change(self, joining: Joining) -> tuple[FileChange, JoinReceipt]:
        """Return the change by which the member joins, and what it makes that was not there.

        Raises:
            TeamError: `NOT_PERMITTED`; as `FileRefused` for a file that has to be changed by hand.
        """
        before, known = read_file(self.path, self.home), receipt_of(str(self.path))
        # guard: no-session-changes-its-team
        if other := self.other_team(joining):
            who = leave = joining.name
            if joining.name == EVERY_SESSION:
                who, leave = "members of their own", "--all"
            text = f"sessions with these settings act as {who} in another team already: {other}"
            hint = f"First: team-console -t {shlex.quote(other)} leave {leave}"
            raise TeamError(Code.NOT_PERMITTED, text, hint)
        after, notes = self._edited(before, known, joins=True)
        known = known or JoinReceipt("", "", str(self.path), is_new=before is None, blank=_blank(before))
        each = joining.name == EVERY_SESSION
        settings = parse_object(after.removeprefix(_BYTE_ORDER_MARK)) if self.empty == EMPTY_JSON else {}
        events = [event for event, _ in hooks_of(settings, joining.name)]
        receipt = replace(known, member=joining.name, team=joining.location, notes=notes, each=each, events=events)
        return FileChange(self.path, self.home, before, self._kept(before, after, known)), receipt

    def other_team(self, joining: Joining) -> str:
        """Return the other team in which sessions with these settings act under this name; empty where it is gone."""
        known = receipt_of(str(self.path))
        if known is None or known.member != joining.name or known.team == joining.location:
            return ""
        text = ""
        with suppress(TeamError):
            text = read_file(self.path, self.home) or ""
        is_there = "://" in known.team or Path(known.team).exists()
        return known.team if is_there and any(sign in text for sign in _OUR_SIGNS) else ""

    def leave_change(self) -> FileChange:
        """Return the change by which it leaves; a file that only a join made goes with it."""
        before, known = read_file(self.path, self.home), receipt_of(str(self.path))
        is_ours = before is not None and (known is not None or any(sign in before for sign in _OUR_SIGNS))
        if before is None or not is_ours:  # others' files need not even be JSON
            return FileChange(self.path, self.home, before, before)
        after = self._edited(before, known, joins=False)[0]
        return FileChange(self.path, self.home, before, self._kept(before, after, known))

    def is_old(self, joining: Joining) -> bool:
        """Return whether hooks, or rules by which the client asks, are others than those of a join now.

        Raises:
            TeamError: As for `join_change`.
            NotEditable: The file cannot be read.
        """
        after = parse_object((self.join_change(joining)[0].after or EMPTY_JSON).removeprefix(_BYTE_ORDER_MARK))
        now = read_client_settings(self.path)
        rules = [value_at(settings, ["permissions", "ask"]) for settings in (now, after)]
        # Editors and formatters write the keys of a hook in their own order.
        # guard: order-of-keys-is-no-change
        write = partial(json.dumps, sort_keys=True)
        hooks = [sorted(map(write, hooks_of(settings, joining.name))) for settings in (now, after)]
        return rules[0] != rules[1] or hooks[0] != hooks[1]

    def members(self) -> set[str]:
        """Return the members whose part is in a file of JSON; what cannot be read has nothing of ours."""
        try:
            return members_in(read_client_settings(self.path, self.home))
        except (TeamError, NotEditable):
            return set()

    def _kept(self, before: str | None, after: str, known: JoinReceipt | None) -> str | None:
        """Return what a file becomes from which our part is gone: what it was before we wrote to it."""
        if after == before or after.removeprefix(_BYTE_ORDER_MARK).strip() != self.empty.strip():
            return after
        if known is None or known.is_new:
            return None
        return after if known.blank is None else known.blank

    def _edited(self, before: str | None, known: JoinReceipt | None, *, joins: bool) -> tuple[str, Notes]:
        mark = _BYTE_ORDER_MARK if before is not None and before.startswith(_BYTE_ORDER_MARK) else ""
        text = (before or "").removeprefix(_BYTE_ORDER_MARK)
        try:
            notes = known.notes if known is not None and known.member == (self.member or known.member) else None
            after, made = self.edit(text if text.strip() else self.empty, notes, joins)
            return mark + after, made
        except NotEditable as error:
            raise refused(self.path, f"it cannot be edited: {error}") from error


def read_client_settings(path: Path, home: Path | None = None) -> Settings:
    """Read a file of JSON; one that is not there is empty.

    Args:
        home: The folder that it must not lead out of.

    Raises:
        TeamError: `NOT_PERMITTED` as for `read_file`.
        NotEditable: It is no object of JSON.
    """
    return parse_object((read_file(path, home or Path(path.anchor)) or EMPTY_JSON).removeprefix(_BYTE_ORDER_MARK))


def _blank(text: str | None) -> str | None:
    return text if text is not None and not text.removeprefix(_BYTE_ORDER_MARK).strip() else None


def json_place(
    path: Path,
    home: Path,
    name: str,
    ours: Sequence[SettingsPart],
    *,
    is_optional: bool = False,
    earlier: Earlier = find_nothing_earlier,
) -> Place:
    """Return the place of settings in JSON, in which the member `name` has `ours`."""

    def edit(text: str, notes: Notes | None, joins: bool) -> tuple[str, Notes]:
        return edit_settings(text, name, ours, notes, earlier, joins=joins)

    return Place(path, home, edit, EMPTY_JSON, is_optional, name)


def place_of_own_file(path: Path, home: Path, text: str, sign: str) -> Place:
    """Return the place of a file that is ours alone.

    Args:
        sign: Stands in each that we wrote; one without it is somebody else's, and stays.
    """
    return Place(path, home, partial(_edit_own, text, sign))


def _edit_own(ours: str, sign: str, text: str, notes: Notes | None, joins: bool) -> tuple[str, Notes]:
    # guard: file-of-somebody-else-stays
    if text and sign not in text:
        if joins:
            raise NotEditable("somebody else wrote it; move it away first")
        return text, []
    return ours if joins else "", []
