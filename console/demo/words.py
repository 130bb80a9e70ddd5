"""What the demo's agents say: a small team that builds an invoicing application called Tally."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET, Struct, UnsetType

TEAM = "sprint-42"
LEAD = "ceo"
SESSION = "sprint-2026-02-24-1"


class Plan(Struct, frozen=True):
    """A plan an agent can hand in, and what it reports while it carries it out."""

    summary: str
    content: str
    task: str
    done: str


PLANS: tuple[Plan, ...] = (
    Plan(
        summary="Refactor the report generator, same output",
        content="""\
## Goal
Monthly reports take 95 s for our largest customers. Most of that is one query per invoice line.

## Steps
1. Split the loader from the renderer. The renderer gets plain rows and never touches the database.
2. Load all lines of a month in one query, ordered by invoice.
3. Keep the old path behind `REPORT_V1=1` for one release.
4. Compare old and new output byte by byte on the twelve reference months.

## Risk
Rounding moves from SQL to Python; step 4 would show it.

## Needs
dev-runner-3-1 and dev-runner-3-2 for half a day. The nightly export waits for it.""",
        task="TASK-2026-02-24-001",
        done="All twelve reference months come out byte for byte the same; the largest takes 6 s instead of 95 s.",
    ),
    Plan(
        summary="Move the nightly export to a queue",
        content="""\
## Goal
One failing customer stops the export of all who come after it. It happened on 3 of the last 14 nights.

## Steps
1. One job per customer, written to the job table in one transaction.
2. A worker takes a job, exports, marks it done. A failed job is tried again after 5 minutes, three times at most.
3. A failed job lands on the support page with its error, instead of in a log nobody reads.

## Not part of this
The file format and the upload stay as they are.

## Way back
`EXPORT_MODE=serial` keeps the old loop for two weeks.""",
        task="TASK-2026-02-24-004",
        done="Last night's export ran as 412 jobs in 11 minutes; two failed, were tried again and went through.",
    ),
    Plan(
        summary="Retire the old CSV importer this week",
        content="""\
## Goal
Two importers disagree about quoted line breaks. Support answers about five tickets a week because of it.

## Steps
1. Log every call of the old importer for two days. So far: 3 customers, 9 calls.
2. Write to those three and move their templates for them.
3. Answer the old address with a redirect and a clear message.
4. Delete 1,900 lines, and the tests that only covered them.

## Risk
A fourth customer who imports once a month. The redirect covers that case.""",
        task="TASK-2026-02-24-007",
        done="All three customers import through the new page. The old importer is gone: 1,912 lines less.",
    ),
    Plan(
        summary="Upgrade PostgreSQL from 13 to 16",
        content="""\
## Goal
Version 13 leaves support in November, and the audit page needs `MERGE`.

## Steps
1. Restore last night's backup into 16 and run the whole test suite against it.
2. Compare the plans of the twenty slowest queries.
3. Rehearse the switch on staging with the clock running. Aim: below four minutes.
4. Switch on Sunday at 05:00 with logical replication; the old server stays in reach for a week.

## Way back
Until writes are opened again, pointing the pooler at the old server is enough.""",
        task="TASK-2026-02-24-009",
        done="Staging runs on 16. The switch took 2 min 40 s; two query plans needed a new index.",
    ),
)

_ANSWERS = (
    (("test", "测试"), "Every step now ends with its tests, and the build stays green between steps."),
    (
        ("error", "fail", "exception", "错误"),
        "A new step handles failures: what is tried again, what is reported, to whom.",
    ),
    (("risk", "roll", "back", "undo"), "A way back is now written down and rehearsed before the switch."),
    (("small", "split", "big", "large", "long"), "The work is split in two; the second half is a plan of its own."),
    (("document", "doc", "readme"), "The documentation is now a step with its own review, not an afterthought."),
    (("cost", "time", "late", "slow", "quick"), "It is cut to what pays off this week; the rest is listed as later."),
)
FIRST_REASON = "Add error handling: what happens when a month fails?"
"""Why the first plan of the demo came back before the human sat down."""
_OTHER = "What you named now comes first, and nothing else starts before you have seen its result."


def revised(plan: Plan, reason: str, turn: int) -> Plan:
    """`plan` again after a refusal: it quotes the reason and says what it changes."""
    folded = reason.casefold()
    change = next((text for words, text in _ANSWERS if any(word in folded for word in words)), _OTHER)
    quoted = " ".join(reason.split())[:300]
    head = f"## What changed (version {turn})\nYou said: “{quoted}”\n\n{change}\n\n"
    return Plan(plan.summary, head + plan.content, plan.task, plan.done)


STORIES: dict[str, str] = {
    "3-1": "Export an invoice as PDF",
    "3-2": "Dashboard on React 18",
    "3-3": "Payment reminders by mail",
    "4-1": "Import customers from CSV",
    "4-2": "Totals in several currencies",
    "4-3": "Audit log page",
    "5-1": "VAT report per quarter",
    "5-2": "Search in archived invoices",
    "5-3": "Rate limits for the public API",
}
BATCHES: tuple[tuple[int, tuple[str, ...]], ...] = (
    (1, ("3-1", "3-2", "3-3")),
    (2, ("4-1", "4-2", "4-3")),
    (3, ("5-1", "5-2", "5-3")),
)
DEPENDS = {"4-2": ["3-3"], "4-3": ["4-1"], "5-1": ["4-2"]}


def story_path(key: str) -> str:
    """Where the story's text would be."""
    slug = STORIES[key].lower().replace(" ", "-")
    return f"_bmad-output/stories/{key}-{slug}.md"


class Fault(Struct, frozen=True):
    """Something a developer agent runs into: what the debugger makes of it, and the choice only a human can make."""

    error: str
    trace: str
    cause: str
    fix: str
    issue: str
    recommendation: str


FAULTS: tuple[Fault, ...] = (
    Fault(
        error="Peer dependency conflict: react@18 against chart-kit@2",
        trace='npm ERR! ERESOLVE could not resolve\nnpm ERR! peer react@"^17" from chart-kit@2.4.1',
        cause="chart-kit 2 pins React 17; version 3 supports 18 but renames two components",
        fix="Upgrade chart-kit to 3.1 and rename LineBox and BarBox in 14 files",
        issue="React 18 conflicts with the chart library: upgrade it, or stay on 17?",
        recommendation="Upgrade chart-kit to 3.1; 14 files change, half a day with tests.",
    ),
    Fault(
        error="Test failure in CurrencyTotalsTest.rounds_half_even",
        trace="AssertionError: 10.025 EUR -> expected 10.02, got 10.03\n  at currency_totals_test.py:88",
        cause="The import keeps amounts as floats; 10.025 is not representable",
        fix="Read amounts as decimals in the importer, not only in the totals",
        issue="Amounts are stored as floats since 2021: migrate now, or round on reading?",
        recommendation="Migrate the column; 2.1 million rows, about four minutes with the site up.",
    ),
    Fault(
        error="Reminder mails are sent twice when the worker restarts",
        trace='IntegrityError: duplicate key value violates unique constraint "mail_once"\n  at reminders.py:141',
        cause="The job is marked done after the mail is sent, not in the same transaction",
        fix="Write the mail to an outbox table together with the mark, send from there",
        issue="213 customers got a reminder twice last night: write to them, or stay silent?",
        recommendation="Write one short, honest mail. Support expects 20 calls if we do not.",
    ),
)

SPECIFICATIONS: tuple[str, ...] = (
    "SPEC-031-audit-log",
    "SPEC-032-export-retention",
    "SPEC-033-reminder-texts",
    "SPEC-034-vat-preview",
    "SPEC-035-invoice-archive",
)
"""What is handed to the architect, each once: a specification that is ready twice is a slip of somebody."""
CLARIFICATIONS: tuple[tuple[str, str], ...] = (
    (
        "Is the release still planned for Thursday?",
        "The audit page would be ready on Friday. The other eight stories are on time.",
    ),
    (
        "May the VAT report use last year's rates for a preview?",
        "The new rates are published on the 1st. A preview marked as such would help support.",
    ),
    (
        "Which customers get the new dashboard first?",
        "Candidates: the five pilot customers, or everyone on the smallest plan.",
    ),
)

CHATTER: tuple[tuple[str, str, str, str], ...] = (
    (
        "schedule-manager",
        "task-manager",
        "Ask for the state of TASK-2026-02-24-001",
        "How far is TASK-2026-02-24-001? The export slot on Thursday depends on it.",
    ),
    (
        "file-manager",
        "knowledge-manager",
        "Release notes 2.8 are in place",
        "`docs/release-2.8.md` has the final text. The screenshots are from this morning's build.",
    ),
    ("knowledge-manager", "task-manager", "查询今日任务列表", "请查询 2026-02-24 的所有任务列表，我需要更新知识库。"),
    (
        "schedule-manager",
        "file-manager",
        "Prepare the customer export for Thursday",
        "Please reserve 40 GB on the export volume and tell me when the test run is through.",
    ),
    (
        "knowledge-manager",
        "schedule-manager",
        "Found the old decision about time zones",
        "Decision D-112: all times are stored in UTC, shown in the customer's zone. Page updated.",
    ),
    (
        "file-manager",
        "schedule-manager",
        "Export volume has room for two runs",
        "112 GB free after clearing the runs of January. Oldest kept run: 2026-02-10.",
    ),
)

REPLIES: dict[str, tuple[str, ...]] = {
    "task-manager": (
        "Understood. I put it in front of the queue and report when it is done.",
        "Taken. Two tasks are running; I start this one in about ten minutes.",
    ),
    "schedule-manager": (
        "Noted. Thursday still holds; I moved the rehearsal to 14:00.",
        "Checked: that fits between the export and the rehearsal. I have told the others.",
    ),
    "file-manager": (
        "Done. The files are in `exports/2026-02-24/`, with checksums.",
        "I am on it; the large archive needs three more minutes.",
    ),
    "knowledge-manager": (
        "Found it and linked the page: `kb/decisions/D-112.md`.",
        "收到，知识库已更新。 The page has both languages now.",
    ),
    "scrum-master": ("Thank you. The board shows it; it does not change the order of the batches.",),
    "debugger": ("I have looked: it is the same cause as DBG-001. The fix is in review.",),
    "slave-batch-2": ("Understood. I go on with the story in hand and report after it.",),
}

FOLDER = "/srv/tally"
"""Where the agents say that they work."""


class Call(Struct, frozen=True):
    """A use of a tool that an agent asks permission for, and what it says when it was allowed."""

    tool: str
    input: Mapping[str, Any]
    done: str
    suggestions: tuple[Mapping[str, Any], ...] = ()
    before: str | UnsetType | None = UNSET


_EXPORT = """\
import csv
from pathlib import Path


def write(path: Path, rows: list[list[str]]) -> None:
    with path.open("w") as file:
        csv.writer(file).writerows(rows)
"""


def _rule(content: str) -> Mapping[str, Any]:
    return {
        "type": "addRules",
        "rules": [{"toolName": "Bash", "ruleContent": content}],
        "behavior": "allow",
        "destination": "session",
    }


CALLS: tuple[Call, ...] = (
    Call(
        "Bash",
        {
            "command": "rsync --archive --delete exports/2026-02/ /mnt/archive/2026-02/ &&\n"
            "  sha256sum --check exports/SHA256SUMS",
            "description": "Copy the exports of February to the archive and check them",
        },
        "The exports of February are in the archive, and all 41 checksums fit.",
        suggestions=(_rule("rsync --archive *"),),
    ),
    Call(
        "Edit",
        {
            "file_path": f"{FOLDER}/tally/export.py",
            "old_string": 'path.open("w") as file',
            "new_string": 'path.open("w", encoding="utf-8", newline="") as file',
        },
        "The export writes UTF-8 now, and its lines end the same way everywhere.",
        before=_EXPORT,
    ),
    Call(
        "Write",
        {
            "file_path": f"{FOLDER}/docs/archive.md",
            "content": "# Archive\n\nExports older than a month are in `/mnt/archive`, one folder a month.\n",
        },
        "The page on the archive is written.",
        before=None,
    ),
    Call(
        "WebFetch",
        {"url": "https://www.postgresql.org/docs/16/sql-copy.html", "prompt": "Does COPY keep the order of rows?"},
        "COPY keeps no order unless the query has one; the export query has one now.",
    ),
)

QUESTIONS: tuple[tuple[Mapping[str, Any], ...], ...] = (
    (
        {
            "question": "Under which licence does the public part of the knowledge base appear?",
            "header": "Licence",
            "options": [
                {"label": "CC BY 4.0", "description": "others may use it and name us"},
                {"label": "CC BY-SA 4.0", "description": "as before, and what they make of it stays free"},
                {"label": "All rights reserved", "description": "nobody may copy it"},
            ],
            "multiSelect": False,
        },
    ),
    (
        {
            "question": "Which pages go into the handbook for new customers?",
            "header": "Pages",
            "options": [
                {"label": "First invoice", "description": "12 minutes of reading"},
                {"label": "VAT in the EU"},
                {"label": "Import from CSV", "description": "changes this week"},
            ],
            "multiSelect": True,
        },
        {
            "question": "In which language is it written first?",
            "header": "Language",
            "options": [{"label": "English"}, {"label": "中文"}],
            "multiSelect": False,
        },
    ),
)

REFUSAL = "Three exports are still being written; stopping now would leave half a file. Ask again in a minute."
"""What file-manager answers to the first request to stop; it agrees to the second."""

GOODBYES: dict[str, str] = {
    "task-manager": "Open tasks are handed to schedule-manager; nothing is half done.",
    "schedule-manager": "The calendar is saved; Thursday's slots stay reserved.",
    "file-manager": "All exports are closed and verified. Goodbye.",
    "knowledge-manager": "知识库已保存。 Everything is written down.",
}
