"""The findings: protocol violations and store problems, each with code, place and next step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct
from team_console.store.model.names import nearest
from team_console.store.model.problem import Problem
from team_console.store.model.recorded import RecordedFacts
from team_console.store.protocol.kinds.kind import RequestKind
from team_console.store.protocol.permissions import may_answer
from team_console.store.protocol.reading import reading
from team_console.store.settings.team_config import TeamConfig
from team_console.store.views.agents.lifecycles import TITLES
from team_console.store.views.agents.roster import names_of
from team_console.store.views.facts import Facts
from team_console.store.views.findings.keys import key_findings
from team_console.store.views.findings.quotations import Quotations
from team_console.store.views.findings.violations import SEVERITIES, Violations
from team_console.store.views.rows import Flag, Lifecycle, RequestRow, RosterRow

_ALWAYS = frozenset({Flag.OVERDUE, Flag.ALTERED, Flag.FORGED})
"""Flags that are told whether or not the messages they are about are still in the queue."""
_OF_THOSE = "among the messages that were looked at, and older archived ones were not"


class Evidence(Struct, frozen=True):
    """What findings are drawn from, beside single messages."""

    config: TeamConfig
    me: str
    problems: tuple[Problem, ...]
    violations: Violations
    roster: tuple[RosterRow, ...]
    facts: Facts
    quotations: Quotations
    complete: bool
    """Whether all archived messages are known; if not, nothing is said for sure that one of them could explain."""
    recorded: RecordedFacts | None
    """What the audit trail knows of verdicts and of keys."""

    def is_mine(self, name: str) -> bool:
        """Whether the reader is meant: a finding tells its reader what to do, not what others should be told."""
        return name in names_of(self.config, self.me)


def findings(evidence: Evidence) -> tuple[Problem, ...]:
    """Errors first; within a severity the store, then the team, then single messages in stored order."""
    violations = evidence.violations
    general = [
        *dict.fromkeys(evidence.problems),
        *key_findings(evidence.config, evidence.recorded),
        *violations.doubled(),
        *violations.ahead(),
        *_twins(evidence),
        *_strangers(evidence),
        *_requests(evidence),
        *_orphans(evidence),
        *evidence.facts.drift,
        *_lives(evidence),
        *violations.unknown(),
        *(evidence.quotations.unknown() if evidence.complete else ()),
    ]
    listed: list[Problem] = []
    for severity in SEVERITIES:
        listed += (problem for problem in general if problem.severity == severity)
        listed += violations.frozen(severity)
    listed += (problem for problem in general if problem.severity not in SEVERITIES)
    return tuple(listed)


def _twins(evidence: Evidence) -> Iterator[Problem]:
    for request_id, entries in sorted(evidence.facts.requests.twins.items()):
        ids = sorted({entry.message.message_id for entry in entries} - {request_id})
        live = [item for item in ids if evidence.violations.is_live(item)]
        if live:
            text = f"{', '.join(live)} opens the request {request_id}, which another message opened before"
            yield Problem(
                "DUPLICATE_ID", "error", request_id, text, "Only the first counts; ask the sender for a new id."
            )


def _strangers(evidence: Evidence) -> Iterator[Problem]:
    names = [row.name for row in evidence.roster if not row.stranger]
    for row in evidence.roster:
        if row.stranger:
            meant = nearest(row.name, names)
            hint = f"Did somebody mean {meant}? " if meant else ""
            where = "on no roster" if evidence.complete else f"on no roster {_OF_THOSE}"
            text = f"{row.name} writes or is written to and is {where}"
            yield Problem("STRANGER", "warning", row.name, text, f"{hint}Add it to the settings if it belongs here.")


def _requests(evidence: Evidence) -> Iterator[Problem]:
    for row in sorted(evidence.facts.requests.flagged, key=lambda row: row.key):
        live = any(evidence.violations.is_live(message.message_id) for message in (row.question, *row.answers))
        for flag in row.flags:
            tell = _FLAGS.get(flag)
            if tell is not None and (live or flag in _ALWAYS):
                yield from tell(evidence, row)


def _unauthorised(evidence: Evidence, row: RequestRow) -> Iterator[Problem]:
    for answer in row.answers:
        live = evidence.violations.is_live(answer.message_id)
        if live and not may_answer(evidence.config, actor=answer.sender, kind=row.kind, addressee=row.addressee):
            text = f"{answer.sender} answered the {row.kind} request {row.request_id}, which is not for it to decide"
            hint = "It decides nothing; the request waits for whoever may answer it."
            yield Problem("UNAUTHORISED_VERDICT", "error", answer.message_id, text, hint)


def _contradictory(evidence: Evidence, row: RequestRow) -> Iterator[Problem]:
    verdict = row.verdict
    if verdict is not None:
        word = "yes" if reading(verdict).approve else "no"
        text = f"{row.request_id} has answers that contradict each other; the first stands: {word} by {verdict.sender}"
        hint = f"Tell {row.asker} which one counts: it may act on the other."
        yield Problem("CONTRADICTORY_ANSWER", "error", row.request_id, text, hint)


def _twice(evidence: Evidence, row: RequestRow) -> Iterator[Problem]:
    text = f"{row.request_id} was answered more than once; the first answer stands"
    yield Problem("ANSWERED_TWICE", "warning", row.request_id, text, "Nothing to do if the answers agree.")


def _overdue(evidence: Evidence, row: RequestRow) -> Iterator[Problem]:
    """Nobody is told to remind itself; an agent that is gone needs no answer to its stop."""
    if row.kind is RequestKind.SHUTDOWN and row.addressee in evidence.facts.team.gone:
        return
    config, me = evidence.config, evidence.me
    answers = may_answer(config, actor=me, kind=row.kind, addressee=row.addressee)
    how = f"team-console approve {row.request_id}, or reject"
    if evidence.is_mine(row.addressee):
        text = f"the {row.kind} request of {row.asker} waits for your answer, longer than it should"
        hint = f"Answer it: {how}."
    else:
        what = f"your {row.kind} request" if evidence.is_mine(row.asker) else f"the {row.kind} request of {row.asker}"
        text = f"{row.addressee} has not answered {what} in time"
        hint = f"Answer it: {how}." if answers else f"Remind {row.addressee}."
    yield Problem("OVERDUE_REQUEST", "warning", row.request_id, text, hint)


def _alive(evidence: Evidence, row: RequestRow) -> Iterator[Problem]:
    text = f"the end asked for in {row.request_id} was agreed to, and the agent still writes"
    yield Problem("STILL_ALIVE", "warning", row.request_id, text, "End its process, or ask it to stop again.")


def _altered(evidence: Evidence, row: RequestRow) -> Iterator[Problem]:
    for message_id in row.altered:
        text = (
            f"answer {message_id} to {row.request_id} was changed after it was recorded; it decides as it was written"
        )
        hint = "Find out who changed it; the next write puts it back: team-console check --heal"
        yield Problem("ALTERED_VERDICT", "error", message_id, text, hint)


def _unverified(evidence: Evidence, row: RequestRow) -> Iterator[Problem]:
    for message_id in row.unverified:
        text = (
            f"answer {message_id} to {row.request_id} was not written by team-console, so anybody may have written it"
        )
        hint = f"Ask {row.answered_by or row.addressee} whether it is theirs before you act on it."
        yield Problem("UNVERIFIED_VERDICT", "warning", message_id, text, hint)


def _forged(evidence: Evidence, row: RequestRow) -> Iterator[Problem]:
    for message_id, why in row.forged.items():
        text = f"answer {message_id} to {row.request_id} is forged or broken and decides nothing: {why}"
        hint = "Find out who wrote it. What the request asks for is still yours to decide."
        yield Problem("FORGED_VERDICT", "error", message_id, text, hint if row.is_open else "Find out who wrote it.")


_FLAGS: Mapping[Flag, Callable[[Evidence, RequestRow], Iterator[Problem]]] = {
    Flag.UNAUTHORISED: _unauthorised,
    Flag.CONTRADICTORY: _contradictory,
    Flag.ANSWERED_TWICE: _twice,
    Flag.OVERDUE: _overdue,
    Flag.STILL_ALIVE: _alive,
    Flag.ALTERED: _altered,
    Flag.UNVERIFIED: _unverified,
    Flag.FORGED: _forged,
}
"""The others say of a row what is no fault."""


def _orphans(evidence: Evidence) -> Iterator[Problem]:
    """Answers whose question is nowhere; not while it may be among archived messages nobody looked at."""
    for entry in sorted(evidence.facts.requests.orphans, key=lambda entry: entry.order) if evidence.complete else ():
        message = entry.message
        if evidence.violations.is_live(message.message_id):
            quoted = entry.read.request_id or entry.read.subject or "nothing"
            text = f"{entry.read.name} of {message.sender} answers {quoted}, which nobody asked as far as is known"
            hint = f"Ask {message.sender} which request it means."
            yield Problem("ANSWER_TO_NOTHING", "warning", message.message_id, text, hint)


def _lives(evidence: Evidence) -> Iterator[Problem]:
    for life in evidence.facts.lifecycles.rows:
        if not (life.missing or life.out_of_order or life.doubled) or not _is_live(evidence, life):
            continue
        for code, steps in (
            ("STEP_MISSING", life.missing),
            ("STEP_OUT_OF_ORDER", life.out_of_order),
            ("STEP_DOUBLED", life.doubled),
        ):
            for number in steps:
                yield _step_problem(evidence, life, code, number)


def _step_problem(evidence: Evidence, life: Lifecycle, code: str, number: int) -> Problem:
    """One departure from the eleven steps, with who has to act: step 5 is the slave's, steps 4 and 9 the Master's."""
    unsure = code == "STEP_MISSING" and not evidence.complete
    if code == "STEP_OUT_OF_ORDER":
        what = f"came before {_named_step(_step_before(life, number))}"
    elif code == "STEP_DOUBLED":
        what = "was made more than once"
    else:
        what = f"is not {_OF_THOSE}" if unsure else "is missing"
    text = f"{life.agent}: {_named_step(number)} {what}"
    severity = "notice" if unsure else "warning"
    return Problem(code, severity, f"{life.key} step {number}", text, _step_hint(evidence, life, code, number))


def _step_before(life: Lifecycle, number: int) -> int:
    """The earlier step that was made after this one."""
    at = {step.number: step.at for step in life.steps if step.message is not None and step.at is not None}
    return max((item for item in at if item < number and at[item] > at[number]), default=number - 1)


def _named_step(number: int) -> str:
    return f"step {number} ({TITLES[number - 1]})"


def _step_hint(evidence: Evidence, life: Lifecycle, code: str, number: int) -> str:
    lead = evidence.config.lead
    who = lead if number in _BY_MASTER else life.agent if number in _BY_AGENT else life.slave or "the slave"
    if code != "STEP_MISSING":
        return "The order of the eleven steps is fixed." if evidence.is_mine(who) else f"Ask {who} why."
    act = _ACTS[number].format(agent=life.agent, slave=life.slave or "the slave")
    return f"{act[0].upper()}{act[1:]}." if evidence.is_mine(who) else f"Ask {who} to {act}."


_BY_MASTER = frozenset({2, 3, 4, 9, 10, 11})
_BY_AGENT = frozenset({6, 7})
_ACTS = {
    1: "ask for the agent with AGENT_CREATE_REQUEST",
    2: "create the agent",
    3: "answer {slave} with AGENT_CREATED",
    4: "send the complete roster to the residents",
    5: "give {agent} its task with TASK_ASSIGNMENT",
    6: "do the work",
    7: "report to {slave} with AGENT_COMPLETE",
    8: "ask for the end of {agent} with AGENT_DESTROY_REQUEST",
    9: "ask {agent} to stop (team-console shutdown {agent})",
    10: "confirm the end to {slave} with AGENT_DESTROYED",
    11: "send the complete roster to the residents",
}
"""Step -> what whoever has to make it should do."""


def _is_live(evidence: Evidence, life: Lifecycle) -> bool:
    messages = [step.message for step in life.steps if step.message is not None]
    return any(evidence.violations.is_live(message.message_id) for message in messages)
