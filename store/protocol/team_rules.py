"""Judge messages by what is known of their team: who may send what to whom and who may answer (decisions D10, D17,
requirement 112), directions, roles, contacts, rosters, who may be ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct
from team_console.store.model.errors import Code, Problem, TeamError
from team_console.store.model.message import Fields, Message
from team_console.store.model.names import ALL, USER, canonical, did_you_mean
from team_console.store.model.recorded import RecordedFacts
from team_console.store.protocol.foreign_fields import ids_listed, key_in, mapping_in, text_in, texts_in
from team_console.store.protocol.kinds import DECIDED_BY_LEAD, UNKNOWN, Family, MessageKind, RequestKind, kind_of
from team_console.store.protocol.membership import CREATED, DESTROYED, created_agent, is_master
from team_console.store.protocol.parsing import ParsedMessage, parse_message
from team_console.store.protocol.placed_message import PlacedMessage
from team_console.store.protocol.sprint_plans import BATCH_REPORT, COMPLETE, Plan, batch_key
from team_console.store.settings.settings_problems import LOST_SETTINGS_HINT
from team_console.store.settings.team_config import TeamConfig

MASTER, SLAVE, TEMP = "Master", "Slave", "Temp"
SM, KR, DEBUGGER, E2E_LIVE = "SM", "KR", "Debugger", "E2E Live"
RESIDENTS = frozenset({SM, KR, DEBUGGER, E2E_LIVE})
DIRECTED = frozenset({Family.SPRINT, Family.ROUTER})
"""Families whose kinds go from one sort of agent to another."""
_ANYONE = frozenset({"Any", "Requester"})
_IN_WORDS = {"Residents": "a resident", "Slave": "a slave", "Temp": "a temporary agent"}

_ROUTER_TYPES = frozenset({"orchestrator", "architect", "code_developer"})
"""Agent types of seed 003; an agent called `code-developer-2` is of the type `code_developer`."""
_KNOWN_NAMES = {
    "scrum-master": SM,
    "sm": SM,
    "knowledge-researcher": KR,
    "kr": KR,
    "debugger": DEBUGGER,
    "e2e-live": E2E_LIVE,
}


def classes_of(name: str, roles: Mapping[str, str], lead: str) -> frozenset[str]:
    """Return the classes that agent `name` may have in the sprint: one when role or name decides, else several.

    Args:
        roles: Name -> `master`, `resident`, `slave`, `temp` or `member`, as far as known.
    """
    role = roles.get(name)
    if name == lead or role == "master":
        return frozenset({MASTER})
    if role in ("slave", "temp"):
        return frozenset({role.capitalize()})
    named = _KNOWN_NAMES.get(name.casefold().replace("_", "-"))
    if named is not None:
        return frozenset({named})
    return RESIDENTS if role == "resident" else RESIDENTS | {SLAVE, TEMP}


def wrong_direction(
    kind: MessageKind, sender: str, recipient: str, roles: Mapping[str, str], lead: str
) -> tuple[str, str] | None:
    """Return what keeps a message of `kind` from going from `sender` to `recipient`; None when nothing is known to.

    Returns:
        The class that sender or recipient should have and has not, and what is wrong as a sentence.
    """
    if kind.family not in DIRECTED:
        return None
    for wanted, name in zip(kind.direction.split(" -> "), (sender, recipient), strict=True):
        if not _may_be(name, wanted, roles, lead):
            return wanted, f"{kind.name} goes {kind.direction}; {name} is not {_IN_WORDS.get(wanted, f'the {wanted}')}"
    return None


def direction_problems(message: Message, roles: Mapping[str, str], lead: str) -> tuple[Problem, ...]:
    """Return where a stored message violates the direction of its kind, one problem per recipient concerned.

    Codes: `WRONG_DIRECTION`; `ROSTER_TO_NON_RESIDENT` for a roster that reaches anyone but a resident (180).
    """
    read, problems = parse_message(message), []
    kind = read.kind
    if kind.name == "AGENT_DESTROY_REQUEST" and read.body.get("agent_name") == message.sender:
        return ()  # in a later revision of the protocol an agent that is done asks for its own end
    for recipient in message.recipients:
        wrong = wrong_direction(kind, message.sender, recipient, roles, lead)
        if wrong is not None:
            wanted, text = wrong
            code = "ROSTER_TO_NON_RESIDENT" if wanted == "Residents" else "WRONG_DIRECTION"
            problems.append(Problem(code, "warning", f"{message.message_id} to", text, f"Ask {message.sender} why."))
    return tuple(problems)


def _may_be(name: str, wanted: str, roles: Mapping[str, str], lead: str) -> bool:
    """Return whether `name` may be of the class or agent type that a direction names."""
    if wanted in _ANYONE:
        return True
    if name == ALL:
        return False
    if wanted in _ROUTER_TYPES:  # its own type when its name or role tells, else any
        plain = name.casefold().rstrip("0123456789").rstrip("-_.").replace("-", "_")
        if plain not in _ROUTER_TYPES and (name == lead or roles.get(name) == "master"):
            plain = "orchestrator"
        return plain == wanted or plain not in _ROUTER_TYPES
    possible = classes_of(name, roles, lead)
    return bool(possible & RESIDENTS) if wanted == "Residents" else wanted in possible


def check_permission(
    config: TeamConfig, *, sender: str, recipient: str, type: str, is_answer: Callable[[], bool] = lambda: False
) -> None:
    """Refuse a message that its sender may not send to this recipient.

    Args:
        type: The name of its kind, of a sprint message the carried one.
        is_answer: Whether the recipient asked for it; whoever is asked may answer.

    Raises:
        TeamError: `NOT_PERMITTED`, naming the rule and where it stands; `INVALID_FIELD` for a sprint message whose
            direction does not fit the configured roles.
    """
    kind = kind_of(type)
    # In capitals are the kinds of the sprint, those that only this team knows among them.
    needs_authority = kind.is_by_lead or type == "broadcast" or (sender == config.lead and type.isupper())
    if needs_authority:
        check_settings(config, f"send {type}")
    if broken := _lead_rule(config, sender, recipient, type):
        raise TeamError(Code.NOT_PERMITTED, *broken)
    if (narrowed := _own_rule(config, sender, recipient, type)) and not is_answer():
        raise TeamError(Code.NOT_PERMITTED, *narrowed)
    if kind.family is Family.SPRINT:
        roles = {name: agent.role for name, agent in config.agents.items()}
        wrong = wrong_direction(kind, sender, recipient, roles, config.lead)
        if wrong is not None:
            hint = "Send it to the right one, or correct the roles in settings."
            raise TeamError(Code.INVALID_FIELD, f"to: {wrong[1]}", hint)


def check_settings(config: TeamConfig, act: str) -> None:
    """Refuse an act that needs authority while the settings, which say who has it, are lost.

    Raises:
        TeamError: `NOT_PERMITTED`, with what happened to them and the way back.
    """
    # guard: lost-settings-give-no-authority
    if config.lost:
        # The reason first: a form may have room for no more.
        text = f"the settings are not in force: {config.lost}; until then nobody may {act}"
        raise TeamError(Code.NOT_PERMITTED, text, LOST_SETTINGS_HINT)


def breach(config: TeamConfig, message: Message, recorded: RecordedFacts | None = None) -> tuple[str, str] | None:
    """Return the right of its sender that a stored message breaks, and the next step; None when it breaks none.

    What team-console wrote was checked then: it may be an answer, and rights may have been narrowed since.
    """
    if not config.declared or (recorded is not None and recorded.is_by_desk(message.message_id)):
        return None
    sender, kind = message.sender, parse_message(message).name
    for recipient in message.recipients:
        broken = _lead_rule(config, sender, recipient, kind) or _own_rule(config, sender, recipient, kind)
        if broken is not None:
            return broken
    return None


def _own_rule(config: TeamConfig, sender: str, recipient: str, type: str) -> tuple[str, str] | None:
    """Return the sender's right in the settings that a message breaks; whoever may ask may take back."""
    agent = config.agent(sender)
    if agent.may_send is not None and type not in agent.may_send and not kind_of(type).withdraws:
        allowed = ", ".join(sorted(agent.may_send)) or "nothing"
        return f"{sender} may not send {type}", f"Its may_send in the team settings allows: {allowed}."
    if agent.may_message is not None and recipient not in agent.may_message:
        allowed = ", ".join(sorted(agent.may_message)) or "nobody"
        return f"{sender} may not write to {recipient}", f"Its may_message in the team settings allows: {allowed}."
    return None


def _lead_rule(config: TeamConfig, sender: str, recipient: str, type: str) -> tuple[str, str] | None:
    """Return the lead's right that a message breaks, and the next step; None when it breaks none (decision D10)."""
    kind = kind_of(type)
    if kind.is_by_lead and sender != config.lead:
        return f"{sender} may not send {type}: only the lead {config.lead} may", f"Ask {config.lead}."
    if kind.is_to_lead and recipient != config.lead:
        return f"{type} goes to the lead {config.lead}, not to {recipient}", f"Send it to {config.lead}."
    # guard: one-master-decides
    if kind.opens in DECIDED_BY_LEAD and recipient != config.lead and config.agent(recipient).role == "master":
        return (
            f"{type} goes to the lead {config.lead}, not to {recipient}, who could not answer it",
            f"Send it to {config.lead}.",
        )
    if type == "shutdown_request" and recipient in (config.lead, USER):
        who = "the human" if recipient == USER else "the lead of the team"
        return f"{recipient} is {who} and cannot be asked to stop", "Leave the console with q; agents stay as they are."
    return None


def may_answer(lead: str, *, actor: str, kind: RequestKind, addressee: str) -> bool:
    """Return whether a verdict by `actor` decides a request of `kind` that was put to `addressee`, in a team of `lead`.

    Plans, creations, destructions, permissions and questions are the lead's; everything else is the addressee's. What
    was put to the human (`user`) may be answered by the lead, whose seat the human has.
    """
    if kind in DECIDED_BY_LEAD:
        return actor == lead
    return actor == addressee or addressee == ALL or (addressee == USER and actor == lead)


# What a team's own settings ask of a message: fields of its kind (`message_types`) and of its handoff (`routing`).

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
    return [name for name in names if payload.get(name) in (None, "", [], (), {})]


# Rules of the sprint and the router: what a team expects beyond the rights to send.

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


_TeamOddity = tuple[str, str, str, str]
"""Code, field, text and hint of what the team does not allow or expect."""
_Check = Callable[[ParsedMessage, TeamFacts], Iterator[_TeamOddity]]


def _check_report(read: ParsedMessage, facts: TeamFacts) -> Iterator[_TeamOddity]:
    """Yield what is wrong with a report that goes to others than its agent was told to report to."""
    targets, message = facts.report_to.get(read.message.sender), read.message
    for recipient in message.recipients if targets else ():
        if targets and recipient not in targets:
            named = " or ".join(sorted(targets))
            text = f"AGENT_COMPLETE of {message.sender} goes to {named}, whom report_to names, not to {recipient}"
            yield "WRONG_DIRECTION", "to", text, f"Forward it to {named}."


def _check_assignment(read: ParsedMessage, facts: TeamFacts) -> Iterator[_TeamOddity]:
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
        yield "UNKNOWN_CONTACT", "report_to", f"TASK_ASSIGNMENT: report_to: {what}", f"{tell} report to."
    contacts = mapping_in(read.body, "resident_contacts") if "resident" in facts.roles.values() else {}
    for key, value in contacts.items():
        if isinstance(value, str) and facts.roles.get(canonical(value)) != "resident":
            field = f"resident_contacts.{key}"
            text = f"TASK_ASSIGNMENT: {field}: {canonical(value):.80} is no resident of this team"
            yield "UNKNOWN_CONTACT", field, text, f"{tell} ask instead."


def _check_batch_report(read: ParsedMessage, facts: TeamFacts) -> Iterator[_TeamOddity]:
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
        yield "STORY_COUNT_MISMATCH", "", f"{BATCH_REPORT}: {text:.300}", hint


def _check_destruction(read: ParsedMessage, facts: TeamFacts) -> Iterator[_TeamOddity]:
    """Yield why an agent should not be ended, or need not be any more."""
    agent = read.body.get("agent_name")
    if not isinstance(agent, str) or (agent == read.message.sender and agent not in facts.roles):
        return  # one that was dispatched asks for its own end, and is on no roster
    odd = ending_problem(facts.config, facts.roles, agent)
    # guard: end-of-the-ended-told
    if agent in facts.ended:
        text = f"{read.name}: {agent} has ended already, so nobody need end it again"
        yield "ODD_DESTRUCTION", "", text, "Take it back; AGENT_DESTROYED was sent when it ended."
    if odd is not None:
        yield "ODD_DESTRUCTION", "", f"{read.name}: {odd}", "Refuse the request with a reason, unless it is meant so."


def _check_roster(read: ParsedMessage, facts: TeamFacts) -> Iterator[_TeamOddity]:
    for name, wrong in roster_gaps(read, facts.expected):
        text = f"AGENT_ROSTER_BROADCAST: {name} {wrong}; a roster is complete"
        yield "ROSTER_DRIFT", name, text, "Send it again, complete."


_CHECKS: Mapping[str, _Check] = {
    "TASK_ASSIGNMENT": _check_assignment,
    BATCH_REPORT: _check_batch_report,
    COMPLETE: _check_report,
    "AGENT_DESTROY_REQUEST": _check_destruction,
    "AGENT_ROSTER_BROADCAST": _check_roster,
}
