"""Who is in the team now: settings, the latest complete roster, and the creations and destructions since."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct, field
from team_console.store.model.message import Message
from team_console.store.model.names import ALL, USER, as_name, is_name
from team_console.store.protocol.entries import Entry, Order
from team_console.store.protocol.kinds.registry import CARRIERS
from team_console.store.protocol.relations.sessions import SESSION, Doing, Sessions, session_note
from team_console.store.settings.team_config import TeamConfig

CREATED, DESTROYED, ROSTER = "AGENT_CREATED", "AGENT_DESTROYED", "AGENT_ROSTER_BROADCAST"
MEMBERSHIP = frozenset({CREATED, DESTROYED, ROSTER, SESSION})
"""Kinds that change who is in the team: sprint kinds, and notes on the sessions of clients."""
_LISTS = {"residents": "resident", "slaves": "slave", "temps": "temp"}


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

    roles: dict[str, str] = field(default_factory=dict)
    arrived: dict[str, Order] = field(default_factory=dict)
    gone: dict[str, str] = field(default_factory=dict)
    left: dict[str, Order] = field(default_factory=dict)
    roster: Entry | None = None
    changed: bool = False
    sessions: Sessions = field(default_factory=Sessions.none)

    def role(self, name: str) -> str | None:
        """The role it has or had."""
        return self.roles.get(name) or self.gone.get(name)

    def come(self, name: str, role: str, order: Order) -> None:
        """It came, or came back."""
        self.roles[name], self.arrived[name] = role, order
        self.stay(name)

    def stay(self, name: str) -> None:
        """It is there, whatever was said of its going before."""
        self.gone.pop(name, None)
        self.left.pop(name, None)

    def go(self, name: str, role: str, order: Order) -> None:
        """It went."""
        self.gone[name], self.left[name] = role, order


def membership(config: TeamConfig, facts: Iterable[Entry]) -> Membership:
    """Fold the facts of `MEMBERSHIP`, in order, over the settings (requirements 178, 179, 183).

    A roster is complete, so the last one wins. In a team that declares its members only the Master's word counts, but a
    member vouches for the teammates in its own session: they are temporary and go when it ends.
    """
    found = Membership()
    configured = _configured(config)
    for entry in facts:
        name = entry.read.name
        if name == SESSION:
            _in_session(found, entry, config, configured)
        if not is_master(config, entry.message.sender):
            continue
        if name == ROSTER:
            _listed(found, entry, configured)
        elif name in (CREATED, DESTROYED):
            _one(found, entry, arrives=name == CREATED)
    mentioned = found.roles
    found.gone = {name: configured.get(name, role) for name, role in found.gone.items()}
    found.roles = {name: role for name, role in configured.items() if name not in found.gone}
    for name, role in mentioned.items():
        if found.roles.get(name, "member") == "member":
            found.roles[name] = role
    return found


def is_master(config: TeamConfig, name: str) -> bool:
    """Whether `name` speaks as the Master; without declared members anybody may."""
    return not config.declared or name == config.lead or config.agent(name).role == "master"


def members(config: TeamConfig, messages: Iterable[Message]) -> Mapping[str, str]:
    """Name -> role of the live roster: `master`, `resident`, `slave`, `temp` or `member`.

    Configured members stay until they are destroyed, whether or not they agreed to stop (D17). A team that declares
    no members has those who write and are written to.
    """
    found = membership_of(config, messages)
    if not config.declared:
        for name in _in_traffic(messages):
            if name not in found.gone:
                found.roles.setdefault(name, "member")
    return found.roles


def left_out(config: TeamConfig, messages: Iterable[Message]) -> list[str]:
    """Return who would be a member, could it be written to: the senders and recipients whose name is none.

    A team that declares its members has none of them.
    """
    return [] if config.declared else [name for name in _heard(messages) if not is_name(name)]


def known(config: TeamConfig, messages: Iterable[Message]) -> Mapping[str, str]:
    """As `members`, with those that were destroyed or left the roster: a stopped agent stays known (D17)."""
    return {**membership_of(config, messages).gone, **members(config, messages)}


def _configured(config: TeamConfig) -> dict[str, str]:
    roles = {name: agent.role for name, agent in config.agents.items()}
    if roles.get(config.lead, "member") == "member":
        roles[config.lead] = "master"
    return roles


def membership_of(config: TeamConfig, messages: Iterable[Message]) -> Membership:
    """The membership that these messages, live and in stored order, make of the settings."""
    return membership(config, membership_facts(messages))


def membership_facts(messages: Iterable[Message]) -> list[Entry]:
    """Those of the messages that say who came and went, in order."""
    return entries_of(messages, _is_membership)


def entries_of(messages: Iterable[Message], wanted: Callable[[Message], bool]) -> list[Entry]:
    """The messages that are `wanted` as entries, in order."""
    entries = [Entry.of(message, place) for place, message in enumerate(messages) if wanted(message)]
    return sorted(entries, key=lambda entry: entry.order)


def _is_membership(message: Message) -> bool:
    """A cheap look that lets through every membership message, and few others."""
    if message.type not in CARRIERS:
        return message.type in MEMBERSHIP
    content = message.payload.get("content")
    return isinstance(content, str) and content.lstrip()[:6] == "AGENT_"


def _in_traffic(messages: Iterable[Message]) -> Iterable[str]:
    return [name for name in _heard(messages) if name not in (ALL, USER) and is_name(name)]


def _heard(messages: Iterable[Message]) -> Iterable[str]:
    names: dict[str, None] = {}
    for message in messages:
        names[message.sender] = None
        for name in message.recipients:
            names[name] = None
    return names


def _listed(found: Membership, entry: Entry, configured: Mapping[str, str]) -> None:
    roster = entry.read.body.get("roster")
    if not isinstance(roster, Mapping):
        return
    if found.roster is not None and found.roster.read.body == entry.read.body and not found.changed:
        found.roster = entry
        return
    now: dict[str, str] = {}
    for key, role in _LISTS.items():
        names = roster.get(key)
        for name in names if isinstance(names, list) else ():
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
        found.stay(name)
    found.roles, found.roster, found.changed = now, entry, False


def _in_session(found: Membership, entry: Entry, config: TeamConfig, configured: Mapping[str, str]) -> None:
    """A note of a member on its session; nobody but a member brings anybody along, and nobody replaces a member."""
    note = session_note(entry.message)
    if note is None or note.teammate in configured:
        return
    if config.declared and note.member not in configured and note.member not in found.roles:
        return
    gone = found.sessions.add(note, entry.order)
    if note.teammate is not None and note.doing is not Doing.ENDED and note.teammate not in found.roles:
        found.come(note.teammate, "temp", entry.order)
    for name in gone:
        if found.roles.get(name) == "temp" and not _is_in_session(found, name):
            found.go(name, found.roles.pop(name), entry.order)


def _is_in_session(found: Membership, name: str) -> bool:
    """Whether it is there as a teammate in a session that goes on."""
    session = found.sessions.current(name)
    return session is not None and session.sponsor is not None and session.doing is not Doing.ENDED


def _one(found: Membership, entry: Entry, *, arrives: bool) -> None:
    name = as_name(entry.read.body.get("agent_name"))
    if name is None or name == ALL:
        return
    found.changed = True
    if arrives:
        kind = entry.read.body.get("agent_type")
        is_slave = name.startswith("slave") or (isinstance(kind, str) and "slave" in kind)
        found.come(name, "slave" if is_slave else "temp", entry.order)
    else:
        found.go(name, found.roles.pop(name, found.gone.get(name, "temp")), entry.order)
