"""The ledger of decisions: who decided what on what, what proves it, and what it says it cannot prove."""

from __future__ import annotations

import csv
import io
import json
from datetime import timedelta
from typing import Any

from msgspec.structs import replace
from team_console.store.contract.team import AuditLine
from team_console.store.model.clock import to_text
from team_console.store.model.errors import Problem
from team_console.store.protocol.kinds import WITHDRAWN
from team_console.store.protocol.shown_when_decided import digest_of
from team_console.store.views.decisions import (
    DECISION_FIELDS,
    DecidedRequest,
    DecisionLedger,
    Proof,
    decision_ledger,
    decision_row,
    ledger_json,
    markdown,
)
from team_console.store.views.history import HistoryPage

from tests.equipment.cases import cases
from tests.equipment.chronicle import LEAD, Chronicle


def ledger_of(story: Chronicle, *audit: AuditLine, **more: object) -> DecisionLedger:
    past = HistoryPage(tuple(reversed(story.archived)), complete=True)
    return decision_ledger(story.snapshot(**more), past, audit, now=story.now)


def only(ledger: DecisionLedger) -> DecidedRequest:
    (decision,) = ledger.decisions
    return decision


def approved(story: Chronicle, **facts: object) -> AuditLine:
    """A plan, its approval by the desk, and the line of it."""
    question = story.plan()
    story.record(question)
    story.wait(60)
    verdict = story.verdict(approve=True, content="go on")
    story.record(verdict)
    told = {"request_id": "plan-1", "kind": "plan", "asker": "task-manager", "ids": [verdict.message_id], **facts}
    return AuditLine(2, story.messages[-1].created, LEAD, "approve", told)


@cases
def test_a_chain_that_does_not_hold_at_or_before_the_line_proves_nothing(broken: int, proof: Proof) -> None:
    story = Chronicle()
    line = approved(story)
    first, last = replace(line, seq=1, action="plan", facts={}), replace(line, seq=3, action="send", facts={})
    lines = [replace(item, intact=item.seq < broken) for item in (last, line, first)]
    ledger = ledger_of(story, *lines)
    assert only(ledger).proof is proof
    assert [problem.code for problem in ledger.problems] == ["AUDIT_BROKEN"]


def test_a_decision_whose_messages_are_gone_stands_with_what_the_trail_has_of_it() -> None:
    story = Chronicle()
    line = approved(story, request_sha256="ab" * 32, shown_sha256="cd" * 32, evidence=["a.py: there"])
    story.messages.clear()
    decision = only(ledger_of(story, line))
    assert (decision.by, decision.verdict, decision.request_id, decision.words) == (LEAD, "approved", "plan-1", "go on")
    assert (decision.shown_sha256, decision.evidence) == ("cd" * 32, ("a.py: there",))
    assert "the question is in no archive" in " ".join(decision.gaps)
    unknown = only(ledger_of(story, replace(line, facts={**line.facts, "ids": ["gone"]})))
    assert "its words are not known" in unknown.gaps


@cases
def test_what_of_a_request_was_not_on_the_screen_is_said_and_no_more(lines: str, gap: str) -> None:
    story = Chronicle()
    line = approved(story, shown_sha256="cd" * 32, request_sha256="ab" * 32, shown_by=f"the console: {lines}")
    told = [item for item in only(ledger_of(story, line)).gaps if "screen" in item or "shown" in item]
    assert (not told) if not gap else told[0].endswith(gap)


def test_without_the_trail_nobody_can_tell_who_wrote_a_verdict() -> None:
    story = Chronicle(problems=(Problem("AUDIT_LOST", "error", "audit-log.yaml", "gone", "Restore it"),))
    story.record(story.plan())
    story.verdict(approve=True)
    assert only(ledger_of(story)).proof is Proof.NOT_KNOWN


def test_a_question_that_is_not_what_was_decided_on_is_named() -> None:
    story = Chronicle()
    line = approved(story, request_sha256=digest_of(Chronicle().plan(request_id="another")))
    assert "its digest is another" in " ".join(only(ledger_of(story, line)).gaps)


def test_what_a_verdict_itself_says_it_was_given_on_counts_where_the_trail_says_nothing() -> None:
    """As in a copy of a team, whose trail begins with the copy."""
    story = Chronicle()
    digest = digest_of(story.plan())
    story.verdict(approve=True, request_sha256=digest)
    decision = only(ledger_of(story))
    assert decision.request_sha256 == digest
    assert not [gap for gap in decision.gaps if "digest" in gap]


@cases
def test_a_request_that_ended_without_a_decision_stands_with_how_and_why(how: str, reason: str) -> None:
    story = Chronicle()
    if how == "ended":
        soon = to_text(story.now + timedelta(seconds=30))
        ask: dict[str, Any] = {"tool": "Bash", "input": {"command": "ls"}, "expires": soon}
        asked = story.say("task-manager", LEAD, "permission_request", request_id="perm-1", **ask)
    else:
        asked = story.plan()
    story.wait(60)
    if how == "withdrawn":
        story.say("task-manager", LEAD, WITHDRAWN, request_id="plan-1", content=reason)
    elif how == "superseded":
        story.plan(request_id="plan-2")
    ledger = ledger_of(story)
    assert [(item.how, item.request.question) for item in ledger.ended] == [(how, asked)]
    assert ledger.ended[0].reason == reason
    assert ledger.ended[0].at is not None
    assert ledger.decisions == ()
    assert ledger_json(ledger)["count"] == 0


def test_answers_that_decide_nothing_are_named_and_do_not_decide() -> None:
    story = Chronicle()
    line = approved(story)
    story.verdict(approve=False, sender="file-manager")
    decision = only(ledger_of(story, line))
    assert (decision.by, decision.verdict) == (LEAD, "approved")
    assert "no by file-manager" in " ".join(decision.gaps)


def test_what_is_written_for_others_holds_every_decision_and_harms_no_reader() -> None:
    story = Chronicle()
    line = approved(story)
    story.wait(1)
    story.plan(request_id="plan-2", summary="=HYPERLINK(1)\x1b[31m")
    story.verdict("plan-2", approve=False, content="[x](http://evil) # no\n| a")
    ledger = ledger_of(story, line)
    said = json.loads(json.dumps(ledger_json(ledger)))
    assert (said["count"], said["decisions"][0]["words"]) == (2, "[x](http://evil) # no\n| a")
    assert said["decisions"][0]["shown_sha256"] is None
    text = io.StringIO()
    table = csv.DictWriter(text, DECISION_FIELDS)
    table.writerows(map(decision_row, ledger.decisions))
    assert not any(cell.startswith("=") for cell in decision_row(ledger.decisions[0]).values())
    lines = list(markdown(ledger, "sprint-42"))
    assert sum(line.startswith("## ") for line in lines) == 2
    assert "> \\[x\\](http://evil) \\# no" in lines or "> \\[x\\]\\(http://evil\\) \\# no" in lines
    assert "\x1b" not in "".join(lines)
