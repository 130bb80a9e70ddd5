"""Judge messages of the sprint and the router by what is known of their team: contacts, reports, rosters, ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from msgspec import Struct
from team_console.store.model.errors import Code, Problem, TeamError
from team_console.store.model.message import Fields
from team_console.store.model.names import USER, canonical, did_you_mean
from team_console.store.protocol.foreign_fields import ids_listed, key_in, mapping_in, text_in, texts_in
from team_console.store.protocol.kinds import UNKNOWN
from team_console.store.protocol.membership import CREATED, DESTROYED, created_agent, is_master
from team_console.store.protocol.parsing import ParsedMessage
from team_console.store.protocol.placed_message import PlacedMessage
from team_console.store.protocol.rights import DIRECTED, SLAVE, classes_of, direction_problems
from team_console.store.protocol.sprint_bodies import BATCH_REPORT, COMPLETE, Plan, batch_key
from team_console.store.settings.team_config import TeamConfig

_NOBODY: Fields = MappingProxyType({})


class TeamFacts(Struct, frozen=True):
    """What is known of a team when one of its messages is judged.

    Attributes:
        roles: Name -> role of everybody there is or was; empty when nothing is known.
        report_to: Agent -> whom the assignments it was given name in `report_to`.
        plans: Session -> its batches, as far as known.
        expected: Name -> whether the next roster must list it (`expected_on_roster`); empty when no roster is judged.
        ended: Who has ended already; empty when no request for an end is judged.
    """

    config: TeamConfig
    roles: Mapping[str, str] = _NOBODY
    report_to: Mapping[str, frozenset[str]] = _NOBODY
    plans: Mapping[str, Plan] = _NOBODY
    expected: Mapping[str, bool] = {}
    ended: frozenset[str] = frozenset()


def is_judged_by_team(read: ParsedMessage) -> bool:
    """Return whether any rule here looks at such a message."""
    return read.kind.family in DIRECTED or (read.kind is not UNKNOWN and read.name in _CHECKS)


def team_problems(read: ParsedMessage, facts: TeamFacts) -> tuple[Problem, ...]:
    """Return where one message violates what its team allows and expects; judged again when the team changes."""
    if not is_judged_by_team(read):
        return ()
    directions = direction_problems(read.message, facts.roles, facts.config.lead)
    check, message_id = _CHECKS.get(read.name), read.message.message_id
    oddities = check(read, facts) if check is not None else ()
    problems = [
        Problem(code, "warning", f"{message_id} {field}".rstrip(), text, hint) for code, field, text, hint in oddities
    ]
    return (*directions, *problems)


def report_targets(facts: Iterable[ParsedMessage]) -> dict[str, frozenset[str]]:
    """Return agent -> everybody that a TASK_ASSIGNMENT to it names in `report_to` (requirement 143)."""
    targets: dict[str, frozenset[str]] = {}
    for read in facts:
        target = text_in(read.body, "report_to")
        if read.name == "TASK_ASSIGNMENT" and target:
            for agent in read.message.recipients:
                targets[agent] = targets.get(agent, frozenset()) | {target}
    return targets


def expected_on_roster(config: TeamConfig, facts: Iterable[PlacedMessage]) -> dict[str, bool]:
    """Return name -> whether a complete roster after these facts lists it: residents, and who was created or
    destroyed.
    """
    expected = {name: True for name, agent in config.agents.items() if agent.role == "resident"}
    for entry in facts:
        name, kind = created_agent(entry.read), entry.read.name
        if name and kind in (CREATED, DESTROYED) and is_master(config, entry.message.sender):
            expected[name] = kind == CREATED
    return expected


def roster_gaps(roster: ParsedMessage, expected: Mapping[str, bool]) -> Iterator[tuple[str, str]]:
    """Yield (name, what is wrong) for each agent that a roster wrongly leaves out or still lists (requirement 178)."""
    lists = mapping_in(roster.body, "roster")
    listed = {name for key in lists for name in texts_in(lists, key)}
    for name, there in expected.items():
        if there is not (name in listed):
            yield name, "is left out" if there else "was destroyed and is still listed"


def ending_problem(config: TeamConfig, roles: Mapping[str, str], agent: str) -> str | None:
    """Return the objection to ending `agent` as a sentence: permanent, or nobody's name; None without one."""
    role = roles.get(agent)
    if agent in (config.lead, USER) or role == "master":
        return f"{agent} leads the team and cannot be ended"
    if role == "resident":
        return f"{agent} is a resident"
    return f"{agent} is on no roster" if role is None and config.declared else None


class TeamOddity(NamedTuple):
    """What the team does not allow or expect: the code of the finding, the field, what of it, and the next step."""

    code: str
    field: str
    text: str
    hint: str


_Check = Callable[[ParsedMessage, TeamFacts], Iterator[TeamOddity]]


def _check_report(read: ParsedMessage, facts: TeamFacts) -> Iterator[TeamOddity]:
    """Yield what is wrong with a report that goes to others than its agent was told to report to."""
    targets, message = facts.report_to.get(read.message.sender), read.message
    for recipient in message.recipients if targets else ():
        if targets and recipient not in targets:
            named = " or ".join(sorted(targets))
            text = f"AGENT_COMPLETE of {message.sender} goes to {named}, whom report_to names, not to {recipient}"
            yield TeamOddity("WRONG_DIRECTION", "to", text, f"Forward it to {named}.")


def _check_assignment(read: ParsedMessage, facts: TeamFacts) -> Iterator[TeamOddity]:
    """Yield what is wrong with whom an assignment names: to report to, and to ask."""
    tell = f"Tell {', '.join(read.message.recipients)} whom to"
    # A report goes to a slave, so nobody else can be named for it.
    name, what = canonical(key_in(read.body, "report_to")), ""
    if name and name != read.message.sender and facts.roles:
        if SLAVE not in classes_of(name, facts.roles, facts.config.lead):
            what = f"{name:.80} is no slave, and AGENT_COMPLETE goes to a slave"
        elif facts.config.declared and name not in facts.roles:
            what = f"{name:.80} is on no roster{did_you_mean(name, facts.roles)}"
    if what:
        yield TeamOddity("UNKNOWN_CONTACT", "report_to", f"TASK_ASSIGNMENT: report_to: {what}", f"{tell} report to.")
    contacts = mapping_in(read.body, "resident_contacts") if "resident" in facts.roles.values() else {}
    for key, value in contacts.items():
        if isinstance(value, str) and facts.roles.get(canonical(value)) != "resident":
            field = f"resident_contacts.{key}"
            text = f"TASK_ASSIGNMENT: {field}: {canonical(value):.80} is no resident of this team"
            yield TeamOddity("UNKNOWN_CONTACT", field, text, f"{tell} ask instead.")


def _check_batch_report(read: ParsedMessage, facts: TeamFacts) -> Iterator[TeamOddity]:
    """Yield what a batch report leaves out of the plan of its stories, and what it tells beyond it."""
    body = read.body
    session, batch = key_in(body, "session_id"), batch_key(body.get("batch_id"))
    plan = facts.plans.get(session)
    if plan is None:
        texts = [f"there is no plan of session {session:.80}"] if facts.plans else []
    elif batch not in dict(plan):
        texts = [f"the plan of session {session:.80} has no batch {batch:.80}"]
    else:
        wanted = dict(plan)[batch]
        told = [*ids_listed(body.get("stories_completed")), *ids_listed(body.get("stories_failed"))]
        untold, unplanned = [item for item in wanted if item not in told], [item for item in told if item not in wanted]
        texts = [f"nothing is said of {', '.join(untold)}, which the plan has in batch {batch:.80}"] if untold else []
        texts += [f"the plan has no {', '.join(unplanned)} in batch {batch:.80}"] if unplanned else []
    for text in texts:
        hint = f"Ask {read.message.sender} what became of the stories of its batch."
        yield TeamOddity("STORY_COUNT_MISMATCH", "", f"{BATCH_REPORT}: {text:.300}", hint)


def _check_destruction(read: ParsedMessage, facts: TeamFacts) -> Iterator[TeamOddity]:
    """Yield why an agent should not be ended, or need not be any more."""
    agent = read.body.get("agent_name")
    if not isinstance(agent, str) or (agent == read.message.sender and agent not in facts.roles):
        return  # one that was dispatched asks for its own end, and is on no roster
    odd = ending_problem(facts.config, facts.roles, agent)
    # guard: end-of-the-ended-told
    if agent in facts.ended:
        text = f"{read.name}: {agent} has ended already, so nobody need end it again"
        yield TeamOddity("ODD_DESTRUCTION", "", text, "Take it back; AGENT_DESTROYED was sent when it ended.")
    if odd is not None:
        yield TeamOddity(
            "ODD_DESTRUCTION", "", f"{read.name}: {odd}", "Refuse the request with a reason, unless it is meant so."
        )


def _check_roster(read: ParsedMessage, facts: TeamFacts) -> Iterator[TeamOddity]:
    """Yield the agents that a roster wrongly leaves out, or still lists."""
    for name, wrong in roster_gaps(read, facts.expected):
        text = f"AGENT_ROSTER_BROADCAST: {name} {wrong}; a roster is complete"
        yield TeamOddity("ROSTER_DRIFT", name, text, "Send it again, complete.")


_CHECKS: Mapping[str, _Check] = {
    "TASK_ASSIGNMENT": _check_assignment,
    BATCH_REPORT: _check_batch_report,
    COMPLETE: _check_report,
    "AGENT_DESTROY_REQUEST": _check_destruction,
    "AGENT_ROSTER_BROADCAST": _check_roster,
}


# Fields that the settings of a team require of a kind of message, and expect of a handoff.

_ENVELOPE = frozenset(
    {"message_id", "type", "from", "from_agent", "sender", "to", "to_agent", "to_agents", "recipient", "priority"}
    | {"created", "timestamp", "status"}
)
"""Fields that every record we write has, so that settings may require them and nobody has to give them."""


def check_configured(config: TeamConfig, *, type: str, sender: str, to: Sequence[str], payload: Fields) -> list[str]:
    """Refuse a message without a field its kind requires in this team; returns what its handoff lacks as warnings.

    Raises:
        TeamError: `INVALID_FIELD`, naming the field and where it is required.
    """
    for name in missing_fields(config, type, payload):
        hint = f"message_types.{type} in the team settings requires it."
        raise TeamError(Code.INVALID_FIELD, f"payload.{name} is missing", hint)
    warnings = []
    for name in to if type == "handoff" else ():
        routes = [route for route in config.routes if (route.sender, route.recipient) == (sender, name)]
        lacks = [(_missing(route.payload, payload), route.key) for route in routes]
        # Of several routes between two members the one that it fits best.
        missing, key = min(lacks, key=lambda lack: len(lack[0]), default=((), ""))
        warnings += [f"the handoff {key} usually carries {', '.join(missing)}"] if missing else []
    return warnings


def missing_fields(config: TeamConfig, type: str, payload: Fields) -> list[str]:
    """Return the payload fields that the settings require of a kind, and that this payload lacks or has empty."""
    rule = config.kinds.get(type)
    return _missing([name for name in rule.required_fields if name not in _ENVELOPE], payload) if rule else []


def _missing(names: Iterable[str], payload: Fields) -> list[str]:
    """Return those of these fields that a payload lacks or has empty; a zero and a false are none of them."""
    return [name for name in names if payload.get(name) in (None, "", [], (), {})]
