"""Tell who is in the team now, by its settings, the latest roster, and creations and destructions since."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct, field
from team_console.store.model.message import Message
from team_console.store.model.names import ALL, USER, as_name, is_name
from team_console.store.protocol.client_sessions import SESSION, Doing, Sessions, session_note
from team_console.store.protocol.foreign_fields import items_in, text_in
from team_console.store.protocol.kinds import AGENT_DESTROYED
from team_console.store.protocol.parsing import ParsedMessage
from team_console.store.protocol.placed_message import PlacedMessage, StoreOrder
from team_console.store.protocol.sprint_in_text import CARRIERS
from team_console.store.settings.team_config import TeamConfig

CREATED, DESTROYED, ROSTER = "AGENT_CREATED", AGENT_DESTROYED, "AGENT_ROSTER_BROADCAST"
MEMBERSHIP = frozenset({CREATED, DESTROYED, ROSTER, SESSION})
"""Kinds that change who is in the team: sprint kinds, and notes on the sessions of clients."""
_LISTS = {"residents": "resident", "slaves": "slave", "temps": "temp"}
"""List of a roster -> the role of those in it."""


class Membership(Struct):
    """Who is in the team and who was.

    Attributes:
        roles: Name -> role of everybody in the team.
        arrived: Name -> when its creation was announced.
        gone: Name -> role of those that were destroyed or left out of the latest roster.
        left: Name -> when.
        roster: The latest roster that counts, None when there was none.
        changed: Whether somebody came or went since.
        sessions: The sessions of clients that members, and the teammates these brought along, work in.
    """

    roles: dict[str, str] = {}
    arrived: dict[str, StoreOrder] = {}
    gone: dict[str, str] = {}
    left: dict[str, StoreOrder] = {}
    roster: PlacedMessage | None = None
    changed: bool = False
    sessions: Sessions = field(default_factory=Sessions)

    def role(self, name: str) -> str | None:
        """Return the role it has or had."""
        return self.roles.get(name) or self.gone.get(name)

    def come(self, name: str, role: str, order: StoreOrder) -> None:
        """Note that it came, or came back."""
        self.roles[name], self.arrived[name] = role, order
        self.mark_present(name)

    def mark_present(self, name: str) -> None:
        """Note that it is in the team, whatever was said of its going before."""
        self.gone.pop(name, None)
        self.left.pop(name, None)

    def go(self, name: str, role: str, order: StoreOrder) -> None:
        """Note that it went."""
        self.gone[name], self.left[name] = role, order


def membership(config: TeamConfig, facts: Iterable[PlacedMessage]) -> Membership:
    """Fold the facts of `MEMBERSHIP`, in order, over the settings (requirements 178, 179, 183).

    A roster is complete, so the last one wins. In a team that declares its members only the Master's word counts, but a
    member vouches for the teammates in its own session: they are temporary and go when it ends.
    """
    found = Membership()
    configured = _configured_roles(config)
    for entry in facts:
        name = entry.read.name
        if name == SESSION:
            _take_session_note(found, entry, config, configured)
        if not is_master(config, entry.message.sender):
            continue
        if name == ROSTER:
            _take_roster(found, entry, configured)
        elif name in (CREATED, DESTROYED):
            _take_announcement(found, entry, arrives=name == CREATED)
    # Roles so far are those that messages mention. The settings decide on their own members, but a mere `member` of
    # theirs has the role that it was announced with.
    mentioned = found.roles
    found.gone = {name: configured.get(name, role) for name, role in found.gone.items()}
    found.roles = {name: role for name, role in configured.items() if name not in found.gone}
    for name, role in mentioned.items():
        if found.roles.get(name, "member") == "member":
            found.roles[name] = role
    return found


def created_agent(read: ParsedMessage) -> str | None:
    """Return the agent whose creation or end a sprint message names; None where it names none."""
    name = as_name(read.body.get("agent_name"))
    return None if name == ALL else name


def is_master(config: TeamConfig, name: str) -> bool:
    """Return whether `name` speaks as the Master; without declared members anybody may."""
    return not config.declared or name == config.lead or config.agent(name).role == "master"


def members(config: TeamConfig, messages: Iterable[Message]) -> Mapping[str, str]:
    """Return name -> role of the live roster: `master`, `resident`, `slave`, `temp` or `member`.

    Configured members stay until they are destroyed, whether or not they agreed to stop (D17). A team that declares
    no members has those who write and are written to.
    """
    return _live_membership(config, messages).roles


def _live_membership(config: TeamConfig, messages: Iterable[Message]) -> Membership:
    """Return the membership of live messages; where nobody is declared, with whoever writes or is written to."""
    found = membership_of(config, messages)
    if not config.declared:
        for name in _names_in(messages):
            if name not in found.gone and name not in (ALL, USER) and is_name(name):
                found.roles.setdefault(name, "member")
    return found


def unaddressable_names(config: TeamConfig, messages: Iterable[Message]) -> list[str]:
    """Return the senders and recipients whose name is none that could be written to, in place of members.

    A team that declares its members has none of them.
    """
    return [] if config.declared else [name for name in _names_in(messages) if not is_name(name)]


def known_members(config: TeamConfig, messages: Iterable[Message]) -> Mapping[str, str]:
    """Return `members`, and those that were destroyed or left the roster: a stopped agent stays known (D17)."""
    found = _live_membership(config, messages)
    return {**found.gone, **found.roles}


def _configured_roles(config: TeamConfig) -> dict[str, str]:
    """Return name -> role of the members in the settings, the lead as the master."""
    roles = {name: agent.role for name, agent in config.agents.items()}
    if roles.get(config.lead, "member") == "member":
        roles[config.lead] = "master"
    return roles


def membership_of(config: TeamConfig, messages: Iterable[Message]) -> Membership:
    """Return the membership that these messages, live and in stored order, make of the settings."""
    return membership(config, membership_facts(messages))


def membership_facts(messages: Iterable[Message]) -> list[PlacedMessage]:
    """Return the messages on who came and went, in order."""
    return entries_of(messages, _is_membership)


def entries_of(messages: Iterable[Message], wanted: Callable[[Message], bool]) -> list[PlacedMessage]:
    """Return the messages that are `wanted` as entries, in order."""
    entries = [PlacedMessage.of(message, place) for place, message in enumerate(messages) if wanted(message)]
    return sorted(entries, key=lambda entry: entry.order)


def _is_membership(message: Message) -> bool:
    """Return whether it may be a membership message; cheap, and lets few others through."""
    if message.type not in CARRIERS:
        return message.type in MEMBERSHIP
    content = message.payload.get("content")
    return isinstance(content, str) and content.lstrip()[:6] == "AGENT_"


def _names_in(messages: Iterable[Message]) -> Iterable[str]:
    """Return all senders and recipients, each once."""
    return dict.fromkeys(name for message in messages for name in (message.sender, *message.recipients))


def _take_roster(found: Membership, entry: PlacedMessage, configured: Mapping[str, str]) -> None:
    """Take a complete roster: whoever is on it is there, and whoever is not has left."""
    roster = entry.read.body.get("roster")
    if not isinstance(roster, Mapping):
        return
    if found.roster is not None and found.roster.read.body == entry.read.body and not found.changed:
        found.roster = entry
        return
    now: dict[str, str] = {}
    for key, role in _LISTS.items():
        for name in items_in(roster, key):
            listed = as_name(name)
            if listed is not None and listed != ALL:
                now.setdefault(listed, role)
    for name, role in found.roles.items():
        if name in now or name in configured:
            continue
        if _is_in_session(found, name):
            now[name] = role
        else:
            found.go(name, role, entry.order)
    for name in now:
        found.mark_present(name)
    found.roles, found.roster, found.changed = now, entry, False


def _take_session_note(
    found: Membership, entry: PlacedMessage, config: TeamConfig, configured: Mapping[str, str]
) -> None:
    """Take a member's note on its session: only members bring somebody along, and nobody takes a member's name."""
    note = session_note(entry.message)
    if note is None or note.teammate in configured:
        return
    # guard: only-members-bring-teammates
    if config.declared and note.member not in configured and note.member not in found.roles:
        return
    gone = found.sessions.add(note, entry.order)
    if note.teammate is not None and note.doing is not Doing.ENDED and note.teammate not in found.roles:
        found.come(note.teammate, "temp", entry.order)
    for name in gone:
        if found.roles.get(name) == "temp" and not _is_in_session(found, name):
            found.go(name, found.roles.pop(name), entry.order)


def _is_in_session(found: Membership, name: str) -> bool:
    """Return whether it is there as a teammate in a session that goes on."""
    session = found.sessions.current(name)
    return session is not None and session.is_of_teammate


def _take_announcement(found: Membership, entry: PlacedMessage, *, arrives: bool) -> None:
    """Take the news that an agent was created or destroyed."""
    name = created_agent(entry.read)
    if name is None:
        return
    found.changed = True
    if arrives:
        is_slave = name.startswith("slave") or "slave" in text_in(entry.read.body, "agent_type")
        found.come(name, "slave" if is_slave else "temp", entry.order)
    else:
        found.go(name, found.roles.pop(name, found.gone.get(name, "temp")), entry.order)
