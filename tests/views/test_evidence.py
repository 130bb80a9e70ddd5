"""Evidence beside a plan or report: names in it, checks held against what ran, and nothing that is only guessed."""

from __future__ import annotations

from team_console.store.views.evidence import (
    Evidence,
    FileFact,
    FileState,
    LocalEvidence,
    Mark,
    Run,
    Runs,
    named_files,
    named_stories,
    other_stories,
    plan_evidence,
    report_evidence,
    version_before,
)
from team_console.store.views.rows import Batch, Story, StoryState
from team_console.widgets.request_documents import earlier_plans

from tests.equipment.cases import cases
from tests.equipment.chronicle import START, Chronicle

AT = START.timestamp()


@cases
def test_paths_are_names_and_other_words_are_not(text: str, names: tuple[str, ...]) -> None:
    found = named_files(text)
    assert set(names) <= set(found) if names else found == ()
    assert len(found) == len(set(found))


def test_stories_are_those_of_the_sprint_and_others_are_named_as_unknown() -> None:
    text = "Do 3-1-loader after story 3-2. Story 9.9 is new."
    assert named_stories(text, ["3-1-loader", "3-1", "4-1"]) == ("3-1-loader",)
    assert list(other_stories(text, ["3-2"])) == ["9.9"]


def evidence_of(story: Chronicle, looked: LocalEvidence, *, batches: tuple[Batch, ...] = ()) -> Evidence:
    rows = story.view().requests
    row = next(row for row in rows if row.is_open)
    rejected = version_before(row, earlier_plans(row, rows))
    before = rejected.question.content if rejected is not None else ""
    text = row.question.content
    return plan_evidence(row, text=text, former=rejected, former_text=before, batches=batches, looked=looked)


def marks(evidence: Evidence) -> dict[str, Mark]:
    return {piece.text: piece.mark for section in evidence.sections for piece in section.pieces}


def test_a_file_is_there_missing_or_changed_since_the_plan_was_written() -> None:
    story = Chronicle()
    story.plan()
    files = (
        FileFact("old.py", FileState.FILE, 10, AT - 60),
        FileFact("new.py", FileState.FILE, 2048, AT + 60),
        FileFact("docs", FileState.FOLDER, 0, AT + 60),
        FileFact("gone.py", FileState.MISSING),
        FileFact("way-out", FileState.LINK),
        FileFact("pipe", FileState.SPECIAL),
        FileFact("/etc/passwd", FileState.OUTSIDE),
    )
    evidence = evidence_of(story, LocalEvidence("/project", "as task-manager names it", files))
    assert marks(evidence) == {
        "old.py, 10 bytes": Mark.THERE,
        "new.py, 2.0 kB": Mark.CHANGED,
        "docs, a folder": Mark.THERE,
        "gone.py": Mark.MISSING,
        "way-out: a link, which is not followed": Mark.NOT_KNOWN,
        "pipe: no file but a pipe, a device or a socket": Mark.NOT_KNOWN,
        "/etc/passwd: outside of the project folder, not looked at": Mark.NOT_KNOWN,
        "commands it ran: not known (no hook told of any)": Mark.NOT_KNOWN,
    }
    assert evidence.sections[0].pieces[0].source == "/project, as task-manager names it"


def test_what_ran_is_told_since_the_rejection_with_its_exit_status() -> None:
    story = Chronicle()
    story.plan(request_id="plan-1")
    story.verdict("plan-1", approve=False, content="Add tests")
    rejected_at = story.now.timestamp()
    story.plan(request_id="plan-2")
    runs = (
        Run(rejected_at - 10, "Bash", "make old", 0, True),
        Run(rejected_at + 0.1, "Bash", "pytest -q", 1, False),
        Run(rejected_at + 0.2, "Bash", "pytest -q", None, True),
        Run(rejected_at + 0.3, "Bash", "sleep 9 &", None, None),
        Run(rejected_at + 3600, "Bash", "make later", 0, True),
    )
    evidence = evidence_of(story, LocalEvidence(runs=Runs(runs, rejected_at - 10)))
    (section,) = evidence.sections
    assert section.heading == "what it ran since the rejection"
    told = [(piece.mark, piece.text[9:]) for piece in section.pieces]
    assert told == [
        (Mark.FAILED, "Bash: pytest -q · exit 1"),
        (Mark.RAN, "Bash: pytest -q · succeeded, exit status not told"),
        (Mark.NOT_KNOWN, "Bash: sleep 9 & · how it ended is not known"),
    ]
    assert evidence.words == "Add tests"
    assert "rejected by ceo" in evidence.compared


def test_a_plan_is_compared_with_the_last_version_that_was_rejected() -> None:
    story = Chronicle()
    for number in (1, 2):
        story.plan(request_id=f"plan-{number}")
        story.verdict(f"plan-{number}", approve=False, content=f"Reason {number}")
    story.say("task-manager", "ceo", "plan_approval_request", request_id="plan-3", content="1. Do it\n2. Test it")
    evidence = evidence_of(story, LocalEvidence())
    assert evidence.words == "Reason 2"
    assert [request_id for request_id, _ in evidence.before] == ["plan-2", "plan-2"]
    assert "+2. Test it" in evidence.diff


def test_a_story_says_where_it_stands_and_whether_that_is_newer() -> None:
    story = Chronicle()
    old = story.say("slave-batch-1", "ceo", summary="Batch report of the day")
    story.say("task-manager", "ceo", "plan_approval_request", request_id="plan-1", content="After 3-1 comes 3-2")
    new = story.say("slave-batch-1", "ceo", summary="Batch report of the day")
    batches = (
        Batch("b1", "s", "batch-1", "slave-batch-1", (Story("3-1", StoryState.DONE),), message=old),
        Batch("b2", "s", "batch-2", "slave-batch-1", (Story("3-2", StoryState.RUNNING),), message=new),
    )
    found = marks(evidence_of(story, LocalEvidence(), batches=batches))
    assert found["story 3-1: done"] is Mark.THERE
    assert found["story 3-2: running"] is Mark.CHANGED


RAN = Runs((Run(AT, "Bash", "cd app && pytest -q", 0, True), Run(AT + 1, "Bash", "npm run build", 2, False)), AT - 60)


@cases
def test_a_claimed_check_ran_failed_did_not_run_or_is_not_known(
    text: str, runs: Runs | None, told: dict[str, Mark]
) -> None:
    pieces = [piece for section in report_evidence(text, LocalEvidence(runs=runs)).sections for piece in section.pieces]
    assert {piece.text.partition(": ")[0]: piece.mark for piece in pieces} == told
