"""Rules that can only be judged by knowing the team: directions, roles, contacts, rosters, who may ask for a stop.

One implementation for both readers: `check` reports what is on record, the desk warns the sender before it is there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from msgspec import Struct, field
from team_console.store.model.names import USER, canonical, did_you_mean
from team_console.store.model.problem import Problem
from team_console.store.protocol.entries import Entry
from team_console.store.protocol.kinds.directions import DIRECTED, SLAVE, classes_of, direction_problems
from team_console.store.protocol.reading import Reading, named_agent
from team_console.store.protocol.relations.membership import CREATED, DESTROYED, is_master
from team_console.store.protocol.relations.plans import BATCH_REPORT, Plan, batch_key, text_of_key, texts_of
from team_console.store.settings.team_config import TeamConfig

_NOBODY: Mapping[str, Any] = MappingProxyType({})


class TeamFacts(Struct, frozen=True):
    """What is known of a team when one of its messages is judged.

    Attributes:
        roles: Name -> role of everybody there is or was; empty when nothing is known.
        report_to: Agent -> whom the assignments it was given name in `report_to`.
        plans: Session -> its batches, as far as known.
        expected: Name -> whether the next roster must list it (`expected_on_roster`); empty when no roster is judged.
    """

    config: TeamConfig
    roles: Mapping[str, str] = _NOBODY
    report_to: Mapping[str, frozenset[str]] = _NOBODY
    plans: Mapping[str, Plan] = _NOBODY
    expected: Mapping[str, bool] = field(default_factory=dict)


def is_judged_by_team(read: Reading) -> bool:
    """Whether any rule here looks at such a message."""
    return read.kind is not None and (read.kind.family in DIRECTED or read.name in _RULES)


def names_concerned(read: Reading) -> frozenset[str]:
    """Agents and sessions that these rules look at, so that a change of one judges the message again."""
    named = (named_agent(read), *_contacts(read).values())
    spoken_of = (text_of_key(read.body.get(key)) for key in ("report_to", "session_id"))
    return frozenset({read.message.sender, *read.message.recipients, *named, *spoken_of})


def team_problems(read: Reading, facts: TeamFacts) -> tuple[Problem, ...]:
    """Violations by one message of what its team allows and expects; judged again when the team changes."""
    if not is_judged_by_team(read):
        return ()
    directions = direction_problems(read.message, roles=facts.roles, lead=facts.config.lead)
    rule = _RULES.get(read.name)
    return (*directions, *(rule(read, facts) if rule is not None else ()))


def report_targets(facts: Iterable[Reading]) -> dict[str, frozenset[str]]:
    """Agent -> everybody that a TASK_ASSIGNMENT to it names in `report_to` (requirement 143)."""
    targets: dict[str, frozenset[str]] = {}
    for read in facts:
        target = read.body.get("report_to")
        if read.name == "TASK_ASSIGNMENT" and isinstance(target, str) and target:
            for agent in read.message.recipients:
                targets[agent] = targets.get(agent, frozenset()) | {target}
    return targets


def expected_on_roster(config: TeamConfig, facts: Iterable[Entry]) -> dict[str, bool]:
    """Name -> whether a complete roster after these facts lists it: residents, and who was created or destroyed."""
    expected = {name: True for name, agent in config.agents.items() if agent.role == "resident"}
    for entry in facts:
        name, kind = named_agent(entry.read), entry.read.name
        if name and kind in (CREATED, DESTROYED) and is_master(config, entry.message.sender):
            expected[name] = kind == CREATED
    return expected


def roster_gaps(roster: Reading, expected: Mapping[str, bool]) -> Iterator[tuple[str, str]]:
    """(name, what is wrong) for each agent that a roster wrongly leaves out or still lists (requirement 178)."""
    lists = roster.body.get("roster")
    values = lists.values() if isinstance(lists, Mapping) else ()
    listed = {name for names in values if isinstance(names, list) for name in names if isinstance(name, str)}
    for name, there in expected.items():
        if there is not (name in listed):
            yield name, "is left out" if there else "was destroyed and is still listed"


def ending_problem(config: TeamConfig, roles: Mapping[str, str], agent: str) -> str | None:
    """What is odd about ending `agent`, as a sentence: it is permanent, or nobody has that name; None when nothing."""
    role = roles.get(agent)
    if agent in (config.lead, USER) or role == "master":
        return f"{agent} leads the team and cannot be ended"
    if role == "resident":
        return f"{agent} is a resident"
    return f"{agent} is on no roster" if role is None and config.declared else None


def _report(read: Reading, facts: TeamFacts) -> Iterator[Problem]:
    targets, message = facts.report_to.get(read.message.sender), read.message
    for recipient in message.recipients if targets else ():
        if targets and recipient not in targets:
            named = " or ".join(sorted(targets))
            text = f"AGENT_COMPLETE of {message.sender} goes to {named}, whom report_to names, not to {recipient}"
            yield Problem("WRONG_DIRECTION", "warning", f"{message.message_id} to", text, f"Forward it to {named}.")


def _assignment(read: Reading, facts: TeamFacts) -> Iterator[Problem]:
    yield from _reported_to(read, facts)
    if "resident" not in facts.roles.values():
        return
    for contact, name in _contacts(read).items():
        if facts.roles.get(name) != "resident":
            place = f"{read.message.message_id} resident_contacts.{contact}"
            text = f"TASK_ASSIGNMENT: resident_contacts.{contact}: {name!s:.80} is no resident of this team"
            hint = f"Tell {', '.join(read.message.recipients)} whom to ask instead."
            yield Problem("UNKNOWN_CONTACT", "warning", place, text, hint)


def _reported_to(read: Reading, facts: TeamFacts) -> Iterator[Problem]:
    """A report goes to a slave, so nobody else can be named for it."""
    name = canonical(text_of_key(read.body.get("report_to")))
    if not name or name == read.message.sender or not facts.roles:
        return
    if SLAVE not in classes_of(name, roles=facts.roles, lead=facts.config.lead):
        what = f"{name:.80} is no slave, and AGENT_COMPLETE goes to a slave"
    elif facts.config.declared and name not in facts.roles:
        what = f"{name:.80} is on no roster{did_you_mean(name, facts.roles)}"
    else:
        return
    place, text = f"{read.message.message_id} report_to", f"TASK_ASSIGNMENT: report_to: {what}"
    yield Problem(
        "UNKNOWN_CONTACT", "warning", place, text, f"Tell {', '.join(read.message.recipients)} whom to report to."
    )


def _batch_report(read: Reading, facts: TeamFacts) -> Iterator[Problem]:
    """What a report of a batch says of stories, held against the plan."""
    body = read.body
    session, batch = text_of_key(body.get("session_id")), batch_key(body.get("batch_id"))
    plan = facts.plans.get(session)
    if plan is None:
        texts = [f"there is no plan of session {session:.80}"] if facts.plans else []
    elif batch not in dict(plan):
        texts = [f"the plan of session {session:.80} has no batch {batch:.80}"]
    else:
        wanted = dict(plan)[batch]
        told = [*texts_of(body.get("stories_completed")), *texts_of(body.get("stories_failed"))]
        left, more = [item for item in wanted if item not in told], [item for item in told if item not in wanted]
        texts = [f"nothing is said of {', '.join(left)}, which the plan has in batch {batch:.80}"] if left else []
        texts += [f"the plan has no {', '.join(more)} in batch {batch:.80}"] if more else []
    for text in texts:
        hint = f"Ask {read.message.sender} what became of the stories of its batch."
        place = read.message.message_id
        yield Problem("STORY_COUNT_MISMATCH", "warning", place, f"{BATCH_REPORT}: {text:.300}", hint)


def _destruction(read: Reading, facts: TeamFacts) -> Iterator[Problem]:
    agent = read.body.get("agent_name")
    if not isinstance(agent, str) or (agent == read.message.sender and agent not in facts.roles):
        return  # one that was dispatched asks for its own end, and is on no roster
    odd = ending_problem(facts.config, facts.roles, agent)
    if odd is not None:
        hint = "Refuse the request with a reason, unless it is meant so."
        yield Problem("ODD_DESTRUCTION", "warning", read.message.message_id, f"{read.name}: {odd}", hint)


def _roster(read: Reading, facts: TeamFacts) -> Iterator[Problem]:
    for name, wrong in roster_gaps(read, facts.expected):
        text = f"AGENT_ROSTER_BROADCAST: {name} {wrong}; a roster is complete"
        yield Problem("ROSTER_DRIFT", "warning", f"{read.message.message_id} {name}", text, "Send it again, complete.")


def _contacts(read: Reading) -> Mapping[str, str]:
    contacts = read.body.get("resident_contacts") if read.name == "TASK_ASSIGNMENT" else None
    if not isinstance(contacts, Mapping):
        return {}
    return {str(key): canonical(name) for key, name in contacts.items() if isinstance(name, str)}


_RULES: Mapping[str, Callable[[Reading, TeamFacts], Iterator[Problem]]] = {
    "TASK_ASSIGNMENT": _assignment,
    BATCH_REPORT: _batch_report,
    "AGENT_COMPLETE": _report,
    "AGENT_DESTROY_REQUEST": _destruction,
    "AGENT_ROSTER_BROADCAST": _roster,
}
