"""Evidence as plain facts: each says what is known, and where that comes from. What is absent is not known."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from msgspec import Struct
from team_console.store.model.message import Message


class Mark(StrEnum):
    """What a piece of evidence says."""

    THERE = "there"
    MISSING = "missing"
    CHANGED = "changed since it was written"
    RAN = "ran"
    FAILED = "failed"
    NOT_RUN = "not run"
    TOLD = "told"
    """A fact that is neither good nor bad."""
    NOT_KNOWN = "not known"


class FileState(StrEnum):
    """What a look at a name in the project folder found."""

    FILE = "file"
    FOLDER = "folder"
    MISSING = "missing"
    LINK = "link"
    SPECIAL = "special"
    """A pipe, a device or a socket."""
    OUTSIDE = "outside"
    UNREADABLE = "unreadable"


class FileFact(Struct, frozen=True):
    """A name, as it was found; nothing was opened but the folders on the way.

    Attributes:
        changed_at: Seconds since 1970 at which its content last changed.
    """

    name: str
    state: FileState
    size: int = 0
    changed_at: float = 0.0


class Run(Struct, frozen=True):
    """A tool that an agent used, as its client told the hook.

    Attributes:
        at: Seconds since 1970.
        subject: The command, the file, the page.
        exit: The exit status, None when the client told none.
        ok: Whether the client says that it succeeded; None when it says nothing.
    """

    at: float
    tool: str
    subject: str = ""
    exit: int | None = None
    ok: bool | None = None


class Runs(Struct, frozen=True):
    """What is on record of an agent's tools, oldest first.

    Attributes:
        since: Since when the record goes back, seconds since 1970.
    """

    runs: tuple[Run, ...]
    since: float


class Looked(Struct, frozen=True):
    """What was looked at on this machine.

    Attributes:
        folder: The project folder; empty when it is not known.
        says: Whose word it is that this is the folder, such as `as a1 names it`.
        files: The names that were looked for in it.
        runs: None when nothing is on record here.
    """

    folder: str = ""
    says: str = ""
    files: tuple[FileFact, ...] = ()
    runs: Runs | None = None


class Piece(Struct, frozen=True):
    """One piece of evidence; stored text, not made safe.

    Attributes:
        source: Where it comes from.
    """

    mark: Mark
    text: str
    source: str

    @property
    def line(self) -> str:
        """All of it, as it is kept with a verdict."""
        return f"{self.mark}: {self.text} [{self.source}]"


class Section(Struct, frozen=True):
    """Pieces of one kind under their heading."""

    heading: str
    pieces: tuple[Piece, ...]


class Evidence(Struct, frozen=True):
    """Everything that stands beside a request.

    Attributes:
        compared: What the request is compared with, as a sentence; empty when with nothing.
        diff: Lines of a unified diff against it.
        before: Request id and message, of each message of the former version that is shown.
        words: What was said when the former version was rejected.
    """

    sections: tuple[Section, ...] = ()
    compared: str = ""
    diff: tuple[str, ...] = ()
    before: tuple[tuple[str, Message], ...] = ()
    words: str = ""

    @property
    def lines(self) -> Iterator[str]:
        """Each piece as it is shown, the first line of each short enough to be kept."""
        if self.compared:
            yield "\n".join((self.compared, *self.diff))
        if self.words:
            yield f"words of the rejection: {self.words}"
        for section in self.sections:
            for piece in section.pieces:
                yield f"{section.heading}: {piece.line}"


NOT_FOUND_OUT = Evidence((Section("evidence", (Piece(Mark.NOT_KNOWN, "it could not be looked for", "this console"),)),))
"""Stands for evidence whose search failed."""
