"""Make the evidence beside a request or report: files it names, checks it claims, tools its agent used, the version
before.

Each piece says what is known and where that comes from; what is absent is not known.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
from typing import Any

from msgspec import Struct
from team_console.store.model.clock import local_time
from team_console.store.model.message import Message
from team_console.store.model.safe import counted
from team_console.store.protocol.kinds import RequestKind
from team_console.store.protocol.shown_when_decided import digest_of
from team_console.store.views.differences import counts_of, line_difference
from team_console.store.views.rows import Batch, RequestRow, RequestState


class Mark(StrEnum):
    """What a piece of evidence says."""

    THERE = "there"
    MISSING = "missing"
    CHANGED = "changed since it was written"
    RAN = "ran"
    FAILED = "failed"
    NOT_RUN = "not run"
    TOLD = "told"
    """A fact that is neither good nor bad."""
    NOT_KNOWN = "not known"


_NOTHING_TOLD = "no hook told of any"


class FileState(StrEnum):
    """What a look at a name in the project folder found."""

    FILE = "file"
    FOLDER = "folder"
    MISSING = "missing"
    LINK = "link"
    SPECIAL = "special"
    """A pipe, a device or a socket."""
    OUTSIDE = "outside"
    UNREADABLE = "unreadable"


class FileFact(Struct, frozen=True):
    """A name, as it was found; nothing was opened but the folders on the way.

    Attributes:
        changed_at: Seconds since 1970 at which its content last changed.
    """

    name: str
    state: FileState
    size: int = 0
    changed_at: float = 0.0


class Run(Struct, frozen=True):
    """A tool that an agent used, as its client told the hook.

    Attributes:
        at: Seconds since 1970.
        subject: The command, the file, the page.
        exit: The exit status, None when the client told none.
        ok: Whether the client says that it succeeded; None when it says nothing.
    """

    at: float
    tool: str
    subject: str = ""
    exit: int | None = None
    ok: bool | None = None


class Runs(Struct, frozen=True):
    """What is on record of an agent's tools, oldest first.

    Attributes:
        since: Since when the record goes back, seconds since 1970.
    """

    runs: tuple[Run, ...]
    since: float


class LocalEvidence(Struct, frozen=True):
    """What this machine knows beside a request: files of the project, and the tools that the asker used.

    Attributes:
        folder: The project folder; empty when it is not known.
        says: Who names that folder, such as `as a1 names it`.
        files: The names that were looked for in it.
        runs: None when nothing is on record here.
    """

    folder: str = ""
    says: str = ""
    files: tuple[FileFact, ...] = ()
    runs: Runs | None = None


class EvidencePart(Struct, frozen=True):
    """One piece of evidence; stored text, not made safe.

    Attributes:
        source: Where it comes from; empty where the text says it.
    """

    mark: Mark
    text: str
    source: str = ""

    @property
    def line(self) -> str:
        """All of it, as it is kept with a verdict."""
        return f"{self.mark}: {self.text}" + (f" [{self.source}]" if self.source else "")


class Section(Struct, frozen=True):
    """Pieces of one kind under their heading."""

    heading: str
    pieces: tuple[EvidencePart, ...]


class Evidence(Struct, frozen=True):
    """Everything that stands beside a request.

    Attributes:
        compared: What the request is compared with, as a sentence; empty when with nothing.
        diff: Lines of a unified diff against it.
        before: Request id and message, of each message of the former version that is shown.
        words: What was said when the former version was rejected.
    """

    sections: tuple[Section, ...] = ()
    compared: str = ""
    diff: tuple[str, ...] = ()
    before: tuple[tuple[str, Message], ...] = ()
    words: str = ""

    @property
    def lines(self) -> Iterator[str]:
        """Each piece as it is shown, the first line of each short enough to be kept."""
        if self.compared:
            yield "\n".join((self.compared, *self.diff))
        if self.words:
            yield f"words of the rejection: {self.words}"
        for section in self.sections:
            for piece in section.pieces:
                yield f"{section.heading}: {piece.line}"


EVIDENCE_NOT_KNOWN = Evidence(
    (Section("evidence", (EvidencePart(Mark.NOT_KNOWN, "it could not be looked for", "this console"),)),)
)
"""Stands for evidence whose search failed."""


# Checks that a report claims, held against what the agent really ran: which ran, and which did not.

_MOST_CLAIM_CHARACTERS = 20_000
"""Characters of a report in which claims are looked for."""
_SUCCESS_WORDS = r"(?:pass|succe|green|clean|\bok\b|fine|no (?:errors|issues|warnings|failures))"
_MOST_QUOTED = 10


CHECKS = {
    "tests": (
        r"\btests?\b|\bpytest\b|\bsuite\b",
        r"\b(?:pytest|unittest|tox|nox|jest|vitest|mocha|ctest|phpunit|rspec|make (?:test|check)\S*"
        r"|(?:npm|yarn|pnpm|bun)(?: run)? test\S*|(?:go|cargo|dotnet|mix|mvn|gradle\w*|bazel|swift) (?:\S+ )?test)\b",
    ),
    "linter": (
        r"\blint\w{0,10}|\bruff\b|\beslint\b|\bflake8\b|\bclippy\b",
        r"\b(?:ruff|eslint|flake8|pylint|golangci-lint|clippy|rubocop|(?:run|make) lint)\b",
    ),
    "type check": (
        r"\btype[ -]?check\w{0,10}|\bmypy\b|\bpyright\b|\btsc\b",
        r"\b(?:mypy|pyright|tsc|(?:run|make) (?:typecheck|type-check|types))\b",
    ),
    "build": (
        r"\bbuilds?\b|\bcompil\w{1,10}",
        r"\b(?:make|(?:npm|yarn|pnpm|bun) run build|(?:cargo|go|dotnet|swift|docker) build|tsc|mvn|gradle\w*|cmake)\b",
    ),
}
"""Kind of check -> how a report names it, and the commands that are one."""
_QUOTED_COMMAND = re.compile(r"`((?:[\w./-]+)(?: [^`\n]{1,200})?)`")
"""A command in ticks, with the words behind it: `make test ARGS=-x`."""
_SAYS_IT_RAN = re.compile(
    r"\b(?:ran|run|running|executed|checked with|verified with|using)\b[^.\n`]{0,40}$", re.IGNORECASE
)
"""The end of what stands before a command that the text says was run: `I ran the tests with `."""


@lru_cache(maxsize=64)
def claimed_checks(text: str) -> tuple[str, ...]:
    """Return the checks that a report claims: kinds of checks, and commands it says were run."""
    shown = text[:_MOST_CLAIM_CHARACTERS]
    kinds = [name for name, (subject, _) in CHECKS.items() if re.search(_claim(subject), shown, re.IGNORECASE)]
    quoted = [
        match[1] for match in _QUOTED_COMMAND.finditer(shown) if _SAYS_IT_RAN.search(shown[: match.start()][-60:])
    ]
    return (*kinds, *list(dict.fromkeys(quoted))[:_MOST_QUOTED])


def _claim(subject: str) -> str:
    """Return the pattern by which a report says in one sentence that a subject went well, or that it was run."""
    said = rf"(?:{subject})[^.\n]{{0,60}}{_SUCCESS_WORDS}|{_SUCCESS_WORDS}\w{{0,12}}[^.\n]{{0,20}}(?:{subject})"
    return rf"{said}|\bran (?:the |all )?(?:{subject})"


def run_words(run: Run) -> str:
    """Return a run in a line: what, when, and how it ended; never better than what the client told."""
    ended = {None: "how it ended is not known", True: "succeeded, exit status not told"}
    how = f"exit {run.exit}" if run.exit is not None else ended.get(run.ok, "failed, exit status not told")
    at = f"{datetime.fromtimestamp(run.at, UTC).astimezone():%H:%M:%S}"
    what = f"{run.tool}: {run.subject}" if run.subject else run.tool
    return f"{at} {what} · {how}"


def run_mark(run: Run) -> Mark:
    """Return the mark of a run: it ran, it failed, or how it ended is not known."""
    if run.ok is None:
        return Mark.NOT_KNOWN
    return Mark.RAN if run.ok else Mark.FAILED


# Names of files and stories in the text of a plan; a name that is only guessed is better left out than made.

MOST_NAMES = 40
"""Names of one text that are looked at."""
_MOST_NAME_CHARACTERS = 100_000
"""Characters of a text in which names are looked for."""
_LONGEST_PATH = 300
_QUOTED_WORD = re.compile(r"`([^`\n]{1,300})`")
"""What stands in ticks on one line."""
_BARE_PATH = re.compile(r"(?<![\w`/.~@:-])((?:\.{1,2}/|/|~/)?[\w@.+-]+(?:/[\w@.+-]+)*/?)(?![\w/])")
"""What may be a path without ticks: `src/loader.py`, `../README`, `~/notes/`; not the end of an address."""
_FILE_NAME = (
    r"[\w+-][\w.+-]*\.(?:c|cc|cpp|cs|css|csv|cfg|conf|exs?|go|gradle|h|hpp|html?|ini|ipynb|java|jl|js|json|jsx|kt|lock"
    r"|m|md|mjs|php|pl|proto|ps1|pyi?|r|rb|rs|rst|s[ac]ss|scala|sh|sql|svelte|swift|tcss|tf|toml|tsx?|txt|vue|xml|ya?ml"
    r"|zig)"
)
"""A name with an ending by which a word without a slash is taken for a file."""
_KNOWN_FILE_NAMES = frozenset({"Makefile", "Dockerfile", "LICENSE", "README", "Cargo.toml", ".gitignore", ".env"})


@lru_cache(maxsize=16)
def named_files(text: str) -> tuple[str, ...]:
    """Return the paths that a text names, in its order, each once, at most `MOST_NAMES`."""
    shown = text[:_MOST_NAME_CHARACTERS]
    found: dict[int, str] = {}
    for match in _QUOTED_WORD.finditer(shown):
        word = match[1].strip().removeprefix("./")
        if " " not in word and _is_path(word, quoted=True):
            found[match.start()] = word
    for match in _BARE_PATH.finditer(shown):
        word = match[1].rstrip(".,;:").removeprefix("./")
        if _is_path(word, quoted=False):
            found.setdefault(match.start(), word)
    return tuple(dict.fromkeys(found[place] for place in sorted(found)))[:MOST_NAMES]


def named_stories(text: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return the `known` story keys that occur in the text as words, in their order."""
    shown = text[:_MOST_NAME_CHARACTERS]
    keys = tuple(key for key in dict.fromkeys(known) if key in shown)
    words = frozenset(re.findall(r"[\w.-]*\w", shown) if keys else ())
    return tuple(key for key in keys if key in words)[:MOST_NAMES]


def other_stories(text: str, known: Iterable[str]) -> Iterator[str]:
    """Yield the stories that a text names with the word before them, and nobody knows."""
    held = frozenset(known)
    names = (
        match[1] for match in re.finditer(r"\b[Ss]tory[ :-]{1,2}`?(\d+[-.]\d+[\w-]*)", text[:_MOST_NAME_CHARACTERS])
    )
    yield from [name for name in dict.fromkeys(names) if name not in held][:MOST_NAMES]


def _is_path(word: str, *, quoted: bool) -> bool:
    if not word or len(word) > _LONGEST_PATH or "://" in word or not word.isprintable():
        return False
    last = word.rstrip("/").rpartition("/")[2]
    is_known = last in _KNOWN_FILE_NAMES or re.fullmatch(_FILE_NAME, last, re.IGNORECASE) is not None
    # A quoted word with a slash is a folder rather than a choice, a flag or a command.
    is_folder = quoted and "/" in word and word[0] not in "-$<|&" and re.fullmatch(r"[\w@.+~/-]+", word) is not None
    return is_known or is_folder


# Evidence beside a request or a report: made from messages and from what was looked at on this machine; pure.

MOST_RUNS = 15
"""Runs of an agent that are shown, the last ones."""
_SIZE_UNITS = ((1 << 20, "MB"), (1 << 10, "kB"))
HOOKS = "its client's hooks, on this machine"


def plan_evidence(
    row: RequestRow,
    *,
    text: str,
    former: RequestRow | None,
    former_text: str,
    batches: Sequence[Batch],
    looked: LocalEvidence,
) -> Evidence:
    """Return the evidence beside a request.

    Args:
        text: The whole plan.
        former: The version before it that it is compared with; None when there is none.
        former_text: The whole of that.
        looked: What was looked at for it.
    """
    since = row.asked_at.timestamp() if row.asked_at is not None else None
    rejected = former if former is not None and former.state is RequestState.REJECTED else None
    ran = "what it ran since the rejection" if rejected is not None else "what it ran last"
    sections = (
        Section("files it names", tuple(_file_parts(looked, since))),
        Section("stories it names", tuple(_story_parts(text, batches, since))),
        Section(ran, tuple(_run_parts(looked, rejected, since))),
    )
    kept = tuple(section for section in sections if section.pieces)
    if former is None:
        return Evidence(kept)
    diff = line_difference(f"{former_text.rstrip()}\n", f"{text.rstrip()}\n")
    before = [(former.request_id, former.question)]
    before += [(former.request_id, former.verdict)] if former.verdict is not None else []
    end = f"rejected by {former.answered_by}" if rejected is not None else "which it replaces"
    compared = f"{counts_of(diff) if diff else 'not a line differs'} against {former.request_id}, {end}"
    return Evidence(kept, compared, diff, tuple(before), former.reason if rejected is not None else "")


def report_evidence(text: str, looked: LocalEvidence) -> Evidence:
    """Return the evidence beside a report: whether the checks it claims ran; not known where nothing is on record."""
    pieces, runs = list[EvidencePart](), looked.runs
    for claim in claimed_checks(text):
        if runs is None:
            piece = EvidencePart(Mark.NOT_KNOWN, f"{claim}: not known whether it ran ({_NOTHING_TOLD})")
            pieces.append(piece)
            continue
        pattern, flags = (CHECKS[claim][1], re.IGNORECASE) if claim in CHECKS else (re.escape(claim), 0)
        fits = [run for run in runs.runs if re.search(pattern, run.subject, flags)]
        since = local_time(datetime.fromtimestamp(runs.since, UTC), "minutes")
        piece = EvidencePart(Mark.NOT_RUN, f"{claim}: no such command since {since}", HOOKS)
        if fits:
            piece = EvidencePart(run_mark(fits[-1]), f"{claim}: {run_words(fits[-1])}", HOOKS)
        pieces.append(piece)
    return Evidence((Section("checks it claims", tuple(pieces)),) if pieces else ())


def version_before(
    row: RequestRow, earlier: Sequence[RequestRow], read: Container[str] = frozenset()
) -> RequestRow | None:
    """Return the version a plan is compared with: the last one that was rejected or read, else the one before it.

    Args:
        earlier: The versions before it, newest first.
        read: Digests of the questions that were on the screen.
    """
    if row.kind is not RequestKind.PLAN:
        return None
    known = (each for each in earlier if each.state is RequestState.REJECTED or digest_of(each.question) in read)
    return next(known, earlier[0] if earlier else None)


def _file_parts(looked: LocalEvidence, since: float | None) -> Iterator[EvidencePart]:
    source = f"{looked.folder}, {looked.says}" if looked.folder else "no project folder is known"
    for fact in looked.files:
        yield _file_part(fact, since, source)
    if len(looked.files) == MOST_NAMES:
        yield EvidencePart(Mark.NOT_KNOWN, f"further names: only the first {MOST_NAMES} were looked for", source)


_WHY_NO_FILE = {
    FileState.LINK: "a link, which is not followed",
    FileState.SPECIAL: "no file but a pipe, a device or a socket",
    FileState.OUTSIDE: "outside of the project folder, not looked at",
}


def _file_part(fact: FileFact, since: float | None, source: str) -> EvidencePart:
    """Return what a look at one name found; a file that changed after the request was written says so."""
    if fact.state is FileState.FILE:
        is_newer = since is not None and fact.changed_at > since
        return EvidencePart(Mark.CHANGED if is_newer else Mark.THERE, f"{fact.name}, {_size_words(fact.size)}", source)
    if fact.state is FileState.FOLDER:
        return EvidencePart(Mark.THERE, f"{fact.name}, a folder", source)
    if fact.state is FileState.MISSING:
        return EvidencePart(Mark.MISSING, fact.name, source)
    return EvidencePart(
        Mark.NOT_KNOWN, f"{fact.name}: {_WHY_NO_FILE.get(fact.state, 'it could not be looked at')}", source
    )


def _story_parts(text: str, batches: Sequence[Batch], since: float | None) -> Iterator[EvidencePart]:
    stories = {story.key: (story, batch) for batch in batches for story in batch.stories}
    for key in named_stories(text, stories):
        story, batch = stories[key]
        told = batch.message.created_at if batch.message is not None else None
        mark = Mark.CHANGED if told is not None and since is not None and told.timestamp() > since else Mark.THERE
        yield EvidencePart(mark, f"story {key}: {story.state}", f"batch {batch.batch_id}")
    for name in other_stories(text, stories):
        yield EvidencePart(Mark.MISSING, f"story {name}", "no batch of this sprint has it")


def _run_parts(looked: LocalEvidence, rejected: RequestRow | None, until: float | None) -> Iterator[EvidencePart]:
    """Yield what the agent ran up to when it asked: what goes on meanwhile must not make every look another one."""
    if looked.runs is None:
        yield EvidencePart(Mark.NOT_KNOWN, f"commands it ran: not known ({_NOTHING_TOLD})")
        return
    since = rejected.answered_at.timestamp() if rejected is not None and rejected.answered_at is not None else 0.0
    runs = [run for run in looked.runs.runs if since <= run.at and (until is None or run.at <= until)]
    if not runs:
        yield EvidencePart(Mark.TOLD, "none yet", HOOKS)
    elif len(runs) > MOST_RUNS:
        yield EvidencePart(Mark.TOLD, f"{counted(len(runs) - MOST_RUNS, 'use')} of tools before these", HOOKS)
    for run in runs[-MOST_RUNS:]:
        yield EvidencePart(run_mark(run), run_words(run), HOOKS)


def _size_words(number: int) -> str:
    for least, unit in _SIZE_UNITS:
        if number >= least:
            return f"{number / least:,.1f} {unit}"
    return counted(number, "byte")


# A request and its evidence as one text, so that what changed can be told as a diff.


def shown_text(question: Message, evidence: Evidence | None, content: str | None) -> str:
    """Return everything that a human decides on, one thing a line; other things give another text.

    Args:
        content: The whole content where the question holds only its beginning.
    """
    lines = [f"type: {question.type}", f"from: {question.sender}", f"to: {', '.join(question.recipients)}"]
    lines += _field_lines(question.payload)
    if content is not None:
        lines += ["whole content:", *_indented(content)]
    for piece in evidence.lines if evidence is not None else ():
        lines += ["evidence:", *_indented(piece)]
    return "\n".join(lines) + "\n"


def _field_lines(payload: Mapping[str, Any]) -> Iterator[str]:
    for key, value in payload.items():
        text = value if isinstance(value, str) else json.dumps(value, indent=1, ensure_ascii=False, default=str)
        if "\n" in text:
            yield f"{key}:"
            yield from _indented(text)
        else:
            yield f"{key}: {text}"


def _indented(text: str) -> Iterator[str]:
    return (f"  {line}" for line in text.split("\n"))
