"""File of a client in which a member joins and leaves: how it is read and edited, and the receipt of what was made."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from team_console.console.clients.file_change import FileChange, FileRefused, read_file
from team_console.console.clients.hook_lines import hook_command, quiet_condition
from team_console.console.clients.instructions import instructions_for, program
from team_console.console.clients.json_editing import (
    BYTE_ORDER_MARK,
    EditedText,
    EditText,
    MadePaths,
    NotEditable,
    Settings,
    SettingsPart,
    parse_object,
    value_at,
)
from team_console.console.clients.session_files import EVERY_SESSION, SessionFiles
from team_console.console.clients.settings_part import SERVER, SERVERS, FindEarlier, edit_settings, hooks_of, members_in
from team_console.store.contract.team import Team
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.home import state_folder
from team_console.store.model.optional_packages import is_installed

EMPTY_JSON = "{}\n"
_ASKED_FOR = ("permissions", "ask")
"""Where the rules stand by which the client asks."""
_OUR_SIGNS = ("TEAM_CONSOLE_AS", "team-console: ")
"""One of them stands in every file that has something of a join: hooks and servers name who acts, blocks are marked."""


class Joining(Struct, frozen=True):
    """Who joins which team, by which program, in which project.

    Attributes:
        name: The member; `EVERY_SESSION` for each session under a name of its own.
        location: The team, as files of clients name it.
        program: The words that call team-console.
        instructions: What a shell's agent must know.
        hold: Rules of calls that the client is told to hold until somebody decides.
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


# Receipts: what each join made in which file of this machine, so that a leave takes out that and nothing else.


class JoinReceipt(Struct, omit_defaults=True):
    """What a join made in one file, or of one member, kept in `XDG_STATE_HOME/team-console/joined`.

    Lost, it only costs precision.

    Attributes:
        member, team: Who joined which team.
        file: Where; empty for the member itself in the team's settings.
        made: What was put there that was not there before; in the file under the name `notes`.
        is_new: Whether there was no such file before.
        blank: The white space that the file was; None where it said something, or was not there.
        each: Whether `join --all` made it, by which each session is a member of its own.
        events: Those at which hooks of ours were written there, each as often as there are such hooks.
        folders: Those that were made for the file.
    """

    member: str
    team: str
    file: str = ""
    made: MadePaths = msgspec.field(name="notes", default_factory=list)
    is_new: bool = False
    blank: str | None = None
    each: bool = False
    events: list[str] = []
    folders: list[str] = []


def _receipt_files() -> SessionFiles:
    """Return the folder of the receipts."""
    return SessionFiles(str(state_folder() / "joined"))


def receipts() -> Iterator[JoinReceipt]:
    """Yield everything that joins made on this machine, as far as it is known."""
    yield from filter(None, map(_read_receipt, _receipt_files().names("")))


def receipt_of(key: str) -> JoinReceipt | None:
    """Return the receipt of a file, or of a member; None when nothing is known.

    An earlier version kept it under the link by which somebody came to the project.
    """
    known = _read_receipt(_file_of(key))
    if known is not None:
        return known
    # guard: receipt-behind-a-link-found
    return next((receipt for receipt in receipts() if _real_key(receipt) == key), None)


def keep_receipt(receipt: JoinReceipt) -> None:
    """Remember what was made."""
    _receipt_files().write(_file_of(_key_of(receipt)), msgspec.to_builtins(receipt))


def forget_receipt(key: str) -> None:
    """Remove the receipt of what was taken out again, also one that an earlier version kept under a link."""
    for known in list(receipts()):
        if key in (_key_of(known), _real_key(known)):
            _receipt_files().remove(_file_of(_key_of(known)))


def member_key(team: str, name: str) -> str:
    """Return the key of the receipt for a member that was added to a team's settings."""
    return f"member {team} {name}"


def _key_of(receipt: JoinReceipt) -> str:
    """Return the key under which a receipt is kept: its file, or its member."""
    return receipt.file or member_key(receipt.team, receipt.member)


def _real_key(receipt: JoinReceipt) -> str:
    """Return the key under which a join of now keeps the receipt: no link is part of it."""
    file, team = (os.path.realpath(path) if os.path.isabs(path) else path for path in (receipt.file, receipt.team))
    return file or member_key(team, receipt.member)


def _file_of(key: str) -> str:
    """Return the name of the file that keeps the receipt of a key; a key may be no name of a file."""
    return f"{hashlib.sha256(key.encode('utf-8', 'surrogateescape')).hexdigest()[:24]}.json"


def _read_receipt(file: str) -> JoinReceipt | None:
    """Return the receipt in a file; None where there is none that can be read."""
    with suppress(msgspec.ValidationError):
        return msgspec.convert(_receipt_files().read(file), JoinReceipt)
    return None


# Files, and what a join or a leave changes in them.


class JoinStep(NamedTuple):
    """What a join changes in one file, and the receipt of it."""

    change: FileChange
    receipt: JoinReceipt


class ClientFile(Struct, frozen=True):
    """One file of a client that changes when a member joins or leaves.

    Attributes:
        home: The folder that links must not lead out of.
        edit: Puts our part in, or takes it out.
        empty: The text that an absent file counts as.
        is_optional: Whether a member joins without it where it cannot be edited.
        member: Who joins or leaves, where what a join of another made there does not count; empty where it does.
    """

    path: Path
    home: Path
    edit: EditText
    empty: str = ""
    is_optional: bool = False
    member: str = ""

    def join_step(self, joining: Joining) -> JoinStep:
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
        edited = self._edited(before, known, joins=True)
        is_blank = before is not None and not before.removeprefix(BYTE_ORDER_MARK).strip()
        known = known or JoinReceipt("", "", str(self.path), is_new=before is None, blank=before if is_blank else None)
        settings = parse_object(edited.text) if self.empty == EMPTY_JSON else {}
        receipt = replace(
            known,
            member=joining.name,
            team=joining.location,
            made=edited.made,
            each=joining.name == EVERY_SESSION,
            events=[hook.event for hook in hooks_of(settings, joining.name)],
        )
        return JoinStep(FileChange(self.path, self.home, before, self._kept(before, edited.text, known)), receipt)

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
        after = self._edited(before, known, joins=False).text
        return FileChange(self.path, self.home, before, self._kept(before, after, known))

    def is_old(self, joining: Joining) -> bool:
        """Return whether hooks, or rules by which the client asks, are others than those of a join now.

        Raises:
            TeamError: As for `join_step`.
            NotEditable: The file cannot be read.
        """
        change = self.join_step(joining).change
        now = read_client_settings(self.path)
        then = parse_object(change.after or EMPTY_JSON)
        is_same_rules = value_at(now, _ASKED_FOR) == value_at(then, _ASKED_FOR)
        return not is_same_rules or _sorted_hooks(now, joining.name) != _sorted_hooks(then, joining.name)

    def members(self) -> set[str]:
        """Return the members whose part is in a file of JSON; what cannot be read has nothing of ours."""
        try:
            return members_in(read_client_settings(self.path, self.home))
        except (TeamError, NotEditable):
            return set()

    def _kept(self, before: str | None, after: str, known: JoinReceipt | None) -> str | None:
        """Return what the file becomes, None for no file: one from which our part is gone is as it was before a join.

        Args:
            after: The text that the edit gave.
        """
        is_empty = after.removeprefix(BYTE_ORDER_MARK).strip() == self.empty.strip()
        if after == before or not is_empty:
            return after
        if known is None or known.is_new:
            return None
        return after if known.blank is None else known.blank

    def _edited(self, before: str | None, known: JoinReceipt | None, *, joins: bool) -> EditedText:
        """Return the text after the edit; a byte order mark stays in front of it.

        Raises:
            TeamError: `NOT_PERMITTED` as `FileRefused` where it has to be changed by hand.
        """
        text = before or ""
        mark = BYTE_ORDER_MARK if text.startswith(BYTE_ORDER_MARK) else ""
        text = text.removeprefix(mark)
        made = None
        if known is not None and self.member in ("", known.member):
            made = known.made
        try:
            edited = self.edit(text if text.strip() else self.empty, made, joins)
        except NotEditable as error:
            raise FileRefused(self.path, f"it cannot be edited: {error}") from error
        return edited._replace(text=mark + edited.text)


def _sorted_hooks(settings: Settings, name: str) -> list[str]:
    """Return the hooks of a member as text: editors and formatters write the keys of a hook in their own order."""
    # guard: order-of-keys-is-no-change
    write = partial(json.dumps, sort_keys=True)
    return sorted(write([hook.event, hook.settings]) for hook in hooks_of(settings, name))


def read_client_settings(path: Path, home: Path | None = None) -> Settings:
    """Read a file of JSON; one that is not there is empty.

    Args:
        home: The folder that it must not lead out of.

    Raises:
        TeamError: `NOT_PERMITTED` as for `read_file`.
        NotEditable: It is no object of JSON.
    """
    return parse_object(read_file(path, home or Path(path.anchor)) or EMPTY_JSON)


def settings_file(
    path: Path,
    home: Path,
    name: str,
    ours: Sequence[SettingsPart],
    *,
    is_optional: bool = False,
    find_earlier: FindEarlier | None = None,
) -> ClientFile:
    """Return a file of settings in JSON, in which the member `name` has `ours`."""

    def edit(text: str, made: MadePaths | None, joins: bool) -> EditedText:
        return edit_settings(text, name, ours, made, find_earlier, joins=joins)

    return ClientFile(path, home, edit, EMPTY_JSON, is_optional, name)


def own_file(path: Path, home: Path, ours: str, sign: str) -> ClientFile:
    """Return a file that is ours alone, and has the text `ours`.

    Args:
        sign: Stands in each that we wrote; one without it is somebody else's, and stays.
    """

    def edit(text: str, made: MadePaths | None, joins: bool) -> EditedText:
        # guard: file-of-somebody-else-stays
        if text and sign not in text:
            if joins:
                raise NotEditable("somebody else wrote it; move it away first")
            return EditedText(text, [])
        return EditedText(ours if joins else "", [])

    return ClientFile(path, home, edit)


def joining_of(team: Team, name: str, project: Path, location: str | None = None) -> Joining:
    """Return who joins, and by which program.

    Args:
        location: What the files of clients name, where that is not the location of the team.
    """
    words = instructions_for(team, name, by_itself=False, location=location)
    has_server = is_installed("mcp", "pydantic")
    location = location or location_of(team)
    places = {kind: path.replace(location_of(team), location, 1) for kind, path in team.places().items()}
    quiet = quiet_condition(places, name, location)
    return Joining(name, location, program(), project.absolute(), words, has_server=has_server, quiet=quiet)


def location_of(team: Team) -> str:
    """Return the team's location as it is the same from every folder."""
    return team.location if "://" in team.location else str(Path(team.location).absolute())


_BLOCK = r"<!-- team-console: {0} (\w+) [^\n]*-->\n(.*?)\n<!-- /team-console: {0} -->"
"""The block of a member: its number, and its lines."""


def block_of(name: str, body: str) -> str:
    """Return the lines of a block of the member `name`, between comments of Markdown."""
    opening = f"<!-- team-console: {name} {_number(body)} (this block is written by 'team-console join') -->"
    return f"{opening}\n{body.rstrip()}\n<!-- /team-console: {name} -->"


def _number(body: str) -> str:
    """Return what tells the lines of a block from changed ones: their checksum."""
    return f"{zlib.crc32(body.rstrip().encode()):08x}"


def with_block(text: str, block: str) -> str:
    """Return the text with the block at its end, behind a line end that goes with it."""
    return f"{text}\n{block}\n" if text else f"{block}\n"


def put_together(before: str, behind: str) -> str:
    """Join the texts before and behind our lines; a last line without a line end gets one."""
    return f"{before}\n{behind}" if before and behind and not before.endswith("\n") else before + behind


def without_block(text: str, name: str) -> str:
    """Return the text without the block of the member `name`, and without the line end that was put before it.

    Raises:
        NotEditable: Somebody changed the block.
    """
    found = re.search(rf"\n?{_BLOCK.format(re.escape(name))}\n?", text, re.DOTALL)
    if found is None or found[1] != _number(found[2]):
        if name in members_named(text):
            raise NotEditable("what a join wrote was changed there; take it out by hand")
        return text
    return put_together(text[: found.start()], text[found.end() :])


def members_named(text: str) -> list[str]:
    """Return the members whose blocks stand in the text."""
    return re.findall(r"^<!-- /?team-console: (\S+)", text, re.MULTILINE)
