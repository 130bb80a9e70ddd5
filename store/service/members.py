"""Add, change and remove members in the team's settings, with warnings about rights that name nobody."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.contract.transaction import Transaction
from team_console.store.model.errors import Code, Problem, TeamError
from team_console.store.model.message import without_none
from team_console.store.model.names import ALL, USER, canonical, did_you_mean, hint_with_nearest, refuse_case_twin
from team_console.store.model.safe import counted
from team_console.store.protocol.kinds import KINDS
from team_console.store.protocol.rights import check_settings
from team_console.store.service.caller import Caller
from team_console.store.service.running_grants import grants_for
from team_console.store.service.writing import roles_now
from team_console.store.settings.editing import SettingsEditError, add_member, change_member, fields_of, remove_member
from team_console.store.settings.settings_file import settings_in
from team_console.store.settings.team_config import Agent, TeamConfig


def warn_of_unknown_rights(config: TeamConfig, agents: Sequence[Agent], present: Iterable[str]) -> list[str]:
    """Return a warning for each name and kind that the rights of these members name and the team does not know.

    Args:
        present: Who is a member now, temporary agents included.
    """
    members = [*present, *config.agents, config.lead, USER, *(agent.name for agent in agents)]
    kinds = [*KINDS, *config.kinds]
    return [
        f"{agent.name} may {right} {word}, which is {what}{did_you_mean(word, known)}"
        for agent in agents
        for right, allowed, known, what in (
            ("write to", agent.may_message, members, "no member"),
            ("send", agent.may_send, kinds, "no kind of message"),
        )
        for word in sorted(set(allowed or ()) - set(known))
    ]


# Members of the team in its settings: added, changed and removed, with the file's own words and style kept.

_DEFAULTS = Agent("")
"""Each field of a member as it is when the settings do not name it."""


class MembersChanged(Struct, frozen=True):
    """What a change of the members did.

    Attributes:
        action: `member_add`, `member_set` or `member_remove`.
        members: Those that were added or changed, as they are now; removed ones as they were.
        warnings: What the caller should know, as sentences.
        notices: Healings and repairs made on the way.
    """

    action: str
    team: str
    members: tuple[Agent, ...]
    warnings: tuple[str, ...] = ()
    notices: tuple[Problem, ...] = ()


def add_members(caller: Caller, agents: Sequence[Agent]) -> MembersChanged:
    """Put new members into the settings.

    Raises:
        TeamError: `NOT_PERMITTED` for a member that is there, for an actor who does not lead, or for settings that
            have to be changed by hand.
    """
    with caller.transaction("member_add") as tx:
        config = tx.config
        _check_lead(caller, config)
        for place, agent in enumerate(agents):
            if any(agent.name == other.name for other in agents[:place]):
                raise TeamError(Code.NOT_PERMITTED, f"{agent.name} is named twice", "Name each new member once.")
            if agent.name in config.agents:
                hint = f"Change it with: team-console member set {agent.name}"
                raise TeamError(Code.NOT_PERMITTED, f"{agent.name} is a member already", hint)
        refuse_case_twins([agent.name for agent in agents], config)
        listed = {config.lead, USER, *(agent.name for agent in agents)}
        others = [name for name in roles_now(tx) if name not in listed and not config.declared]
        # The first listed member closes the team: whoever only wrote so far is no member any more.
        text = "the team lists its members from now on; not on the list:"
        warnings = [f"{text} {', '.join(others)}"] if others else []
        warnings += warn_of_unknown_rights(config, agents, roles_now(tx))
        for agent in agents:
            _edit_settings(tx, partial(add_member, agent=agent), {agent.name: agent})
        tx.record("member_add", members=[_facts_of(agent) for agent in agents])
    return MembersChanged("member_add", config.name, tuple(agents), tuple(warnings), tuple(tx.notices))


_MOST_NAMED = 5
"""Requests that a warning names before it only counts them."""


def refuse_case_twins(names: Sequence[str], config: TeamConfig) -> None:
    """Refuse new members whose names differ from each other's or a known one's in upper and lower case only.

    Raises:
        TeamError: `INVALID_NAME` naming both.
    """
    known = [ALL, USER, config.lead, *config.agents, *names]
    for name in names:
        refuse_case_twin(name, known, field="name")


def set_member(caller: Caller, name: str, fields: Mapping[str, Any]) -> MembersChanged:
    """Change fields of a member; a field with its default leaves the settings.

    Raises:
        TeamError: `AGENT_NOT_FOUND`, with the nearest name, or as for `add_members`.
    """
    with caller.transaction("member_set") as tx:
        _check_lead(caller, tx.config)
        before = member_in_settings(tx.config, name)
        after = replace(before, **fields)
        if after != before:
            changes = {key: _value_for_settings(key, value) for key, value in fields.items()}
            _edit_settings(tx, partial(change_member, name=name, fields=changes), {name: after})
            tx.record("member_set", member=_facts_of(after), before=_facts_of(before))
        named = replace(after, **{key: None for key in ("may_message", "may_send") if key not in fields})
        warnings = warn_of_unknown_rights(tx.config, [named], roles_now(tx))
    return MembersChanged("member_set", tx.config.name, (after,), tuple(warnings), tuple(tx.notices))


def remove_members(caller: Caller, names: Sequence[str]) -> MembersChanged:
    """Take members out of the settings; their messages and archives stay.

    Raises:
        TeamError: `AGENT_NOT_FOUND`, with the nearest name; `NOT_PERMITTED` for the lead, or as for `add_members`.
    """
    with caller.transaction("member_remove") as tx:
        _check_lead(caller, tx.config)
        gone = [member_in_settings(tx.config, name) for name in names]
        for agent in gone:
            if agent.name == tx.config.lead:
                hint = "Make somebody else the lead in the settings first."
                raise TeamError(Code.NOT_PERMITTED, f"{agent.name} leads the team", hint)
            _edit_settings(tx, partial(remove_member, name=agent.name), {agent.name: None})
        tx.record("member_remove", members=[_facts_of(agent) for agent in gone])
        warnings = _left_behind_warnings(tx, [agent.name for agent in gone])
        for agent in gone:
            if ended := grants_for(tx, agent.name):
                warnings.append(f"{counted(len(ended), 'grant')} for {agent.name} ended")
    return MembersChanged("member_remove", tx.config.name, tuple(gone), tuple(warnings), tuple(tx.notices))


def _check_lead(caller: Caller, config: TeamConfig) -> None:
    # guard: members-under-settings-in-force
    check_settings(config, "change the members")
    if caller.actor in (config.lead, USER) or config.agent(caller.actor).role == "master":
        return
    raise TeamError(
        Code.NOT_PERMITTED,
        f"{caller.actor} does not lead team {config.name}",
        f"Only {config.lead} changes the members.",
    )


def member_in_settings(config: TeamConfig, name: str) -> Agent:
    """Return the member called `name`.

    Raises:
        TeamError: `AGENT_NOT_FOUND`, with the nearest name.
    """
    name = canonical(name)
    if name in config.agents:
        return config.agents[name]
    hint = hint_with_nearest(name, config.agents, "team-console member list shows them.")
    raise TeamError(Code.AGENT_NOT_FOUND, f"{name} is not a member in the settings of team {config.name}", hint)


def _edit_settings(tx: Transaction, change: Callable[[str], str], wanted: Mapping[str, Agent | None]) -> None:
    """Change the text of the settings, unless anything but what is wanted would change with it.

    Args:
        change: Returns the new text for the old one.
        wanted: Member -> as it is to be, None for one that is to go; all others stay.

    Raises:
        TeamError: `NOT_PERMITTED` where only a human with an editor can make this change.
    """
    before = tx.settings()
    config = settings_in(before.encode())
    expected = {name: agent for name, agent in config.agents.items() if wanted.get(name, agent) is not None}
    expected |= without_none(wanted)
    try:
        after = change(before)
    except SettingsEditError as error:
        raise _editor_needed(str(error)) from error
    result = settings_in(after.encode())
    # The lead is a member without being listed, as soon as anybody is.
    made = {name: agent for name, agent in result.agents.items() if name in expected or name != result.lead}
    if made != {name: agent for name, agent in expected.items() if name in made or name != config.lead}:
        raise _editor_needed("the members would not be what was asked for")
    if config.lead != result.lead:
        raise _editor_needed(f"the lead would change from {config.lead} to {result.lead}; name the lead first")
    if _without_members(config) != _without_members(result):
        raise _editor_needed("more than the members would change")
    tx.configure(after)


def _without_members(config: TeamConfig) -> TeamConfig:
    """Return the settings without members, and without problems, whose line numbers move with the members."""
    return replace(config, agents={}, declared=False, values={}, problems=())


def _editor_needed(reason: str) -> TeamError:
    hint = "Change the settings in an editor; 'team-console help settings' explains them."
    return TeamError(Code.NOT_PERMITTED, f"the settings cannot be changed here: {reason}", hint)


def _value_for_settings(key: str, value: Any) -> Any:
    """Return a value for the settings' text, None to leave the field out."""
    if value == getattr(_DEFAULTS, key):
        return None
    return sorted(value) if isinstance(value, frozenset) else value


def _facts_of(agent: Agent) -> dict[str, Any]:
    """Return a member as the audit trail keeps it."""
    return {"name": agent.name, **fields_of(agent)}


def _left_behind_warnings(tx: Transaction, names: Sequence[str]) -> list[str]:
    """Return what waits for those who leave, and what they asked, as sentences."""
    from team_console.store.service.answerable import requests_in  # 8 ms, for who leaves alone

    everything = tx.everything()
    cases = requests_in(tx, everything).values()
    told = []
    for name in names:
        unread = sum(message.is_pending_for(name) for message in everything)
        asked = [case.request_id for case in cases if case.is_open and case.asker == name]
        if unread:
            told.append(f"{name} leaves {counted(unread, 'unread message')} behind")
        if asked:
            told.append(f"{name} leaves {counted(len(asked), 'open request')} behind: {', '.join(asked[:_MOST_NAMED])}")
    return told
