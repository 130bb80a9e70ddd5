"""What a client is to `join` and `leave`: where it keeps its settings, and what stands there of ours."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

from msgspec import Struct
from team_console.console.clients.place import Joining, Place


class Running(Struct, frozen=True):
    """A session of a client that runs, as the client's own records say.

    Attributes:
        client: What people call the client.
        name: What the client calls the session, if anything.
        doing: What it does, in the client's word.
        joins_at_once: Whether it reads its settings while it runs.
    """

    session: str
    client: str
    folder: str
    name: str = ""
    doing: str = ""
    joins_at_once: bool = False

    @property
    def line(self) -> str:
        """One line for people."""
        return ", ".join(word for word in (self.client, self.name, self.folder, self.doing, self.session) if word)


class ClientFiles(ABC):
    """The files of one client; a subclass says what differs.

    Attributes:
        name: As `join --for` has it.
        scopes: Whose settings it reads, all of them together: `project`, `local` for the project on this machine alone,
            `user`.
        asks: Whether the team's `ask_for` counts for its calls.
        needs_server: Whether a member takes part by our MCP server alone.
    """

    name: str
    scopes: tuple[str, ...] = ("project",)
    asks = False
    needs_server = False

    @abstractmethod
    def places(self, scope: str, joining: Joining) -> list[Place]:
        """Return the files that change when a member joins; the one that says who acts is the first."""

    def every_session(self, joining: Joining) -> list[Place]:
        """Return the files that change when all of its sessions join, each as a member of its own; none where it
        cannot.
        """
        return []

    @abstractmethod
    def words(self, scope: str, joining: Joining) -> Sequence[str]:
        """Return what the user should know: from when on it joins, what reaches whom and what does not."""

    def can_hold(self, rules: Sequence[str]) -> bool:
        """Return whether it has rules of its own by which such calls can be held until somebody decides."""
        return False

    def running(self) -> Iterator[Running]:
        """Yield its sessions that run."""
        yield from ()
