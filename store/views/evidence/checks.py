"""Checks that a report claims, held against what the agent really ran: which ran, and which did not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import lru_cache

from msgspec import Struct
from team_console.store.views.evidence.facts import Mark, Piece, Run, Runs

_LOOKED_AT = 20_000
"""Characters of a report in which claims are looked for."""
_GOOD = r"(?:pass|succe|green|clean|\bok\b|fine|no (?:errors|issues|warnings|failures))"
_MOST_QUOTED = 10


class Check(Struct, frozen=True):
    """A kind of check: the patterns of how a report claims it, and of the commands that are one.

    They are compiled when the first report is read: the first picture of the console does not wait for that.
    """

    name: str
    claim: str
    run: str


def _check(name: str, subject: str, run: str) -> Check:
    said = rf"(?:{subject})[^.\n]{{0,60}}{_GOOD}|{_GOOD}\w{{0,12}}[^.\n]{{0,20}}(?:{subject})"
    return Check(name, rf"{said}|\bran (?:the |all )?(?:{subject})", run)


CHECKS = (
    _check(
        "tests",
        r"\btests?\b|\bpytest\b|\bsuite\b",
        r"\b(?:pytest|unittest|tox|nox|jest|vitest|mocha|ctest|phpunit|rspec|make (?:test|check)\S*"
        r"|(?:npm|yarn|pnpm|bun)(?: run)? test\S*|(?:go|cargo|dotnet|mix|mvn|gradle\w*|bazel|swift) (?:\S+ )?test)\b",
    ),
    _check(
        "linter",
        r"\blint\w{0,10}|\bruff\b|\beslint\b|\bflake8\b|\bclippy\b",
        r"\b(?:ruff|eslint|flake8|pylint|golangci-lint|clippy|rubocop|(?:run|make) lint)\b",
    ),
    _check(
        "type check",
        r"\btype[ -]?check\w{0,10}|\bmypy\b|\bpyright\b|\btsc\b",
        r"\b(?:mypy|pyright|tsc|(?:run|make) (?:typecheck|type-check|types))\b",
    ),
    _check(
        "build",
        r"\bbuilds?\b|\bcompil\w{1,10}",
        r"\b(?:make|(?:npm|yarn|pnpm|bun) run build|(?:cargo|go|dotnet|swift|docker) build|tsc|mvn|gradle\w*|cmake)\b",
    ),
)
_COMMAND = re.compile(r"`((?:[\w./-]+)(?: [^`\n]{1,200})?)`")
_RUNNING = re.compile(r"\b(?:ran|run|running|executed|checked with|verified with|using)\b[^.\n`]{0,40}$", re.IGNORECASE)


@lru_cache(maxsize=64)
def claimed_checks(text: str) -> tuple[str, ...]:
    """What a report says was checked: kinds of checks, and commands it says were run."""
    shown = text[:_LOOKED_AT]
    kinds = [check.name for check in CHECKS if re.search(check.claim, shown, re.IGNORECASE)]
    quoted = [match[1] for match in _COMMAND.finditer(shown) if _RUNNING.search(shown[: match.start()][-60:])]
    return (*kinds, *list(dict.fromkeys(quoted))[:_MOST_QUOTED])


def check_pieces(text: str, runs: Runs | None, *, source: str) -> Iterator[Piece]:
    """For each check that is claimed, whether it ran; not known where nothing is on record."""
    for claim in claimed_checks(text):
        if runs is None:
            yield Piece(Mark.NOT_KNOWN, f"{claim}: whether it ran", "nothing of this agent is on record here")
            continue
        fits = [run for run in runs.runs if _fits(claim, run)]
        yield _piece(claim, fits[-1] if fits else None, runs, source)


def run_words(run: Run) -> str:
    """A run in a line: what, when, and how it ended as far as the client tells."""
    at = f"{datetime.fromtimestamp(run.at, UTC).astimezone():%H:%M:%S}"
    what = f"{run.tool}: {run.subject}" if run.subject else run.tool
    return f"{at} {what} · {outcome_words(run)}"


def outcome_words(run: Run) -> str:
    """How a run ended; never better than what the client told."""
    if run.exit is not None:
        return f"exit {run.exit}"
    if run.ok is None:
        return "how it ended is not known"
    return "succeeded, exit status not told" if run.ok else "failed, exit status not told"


def run_mark(run: Run) -> Mark:
    """What a run is worth as evidence."""
    if run.ok is None:
        return Mark.NOT_KNOWN
    return Mark.RAN if run.ok else Mark.FAILED


def _piece(claim: str, run: Run | None, runs: Runs, source: str) -> Piece:
    if run is None:
        since = f"{datetime.fromtimestamp(runs.since, UTC).astimezone():%Y-%m-%d %H:%M}"
        return Piece(Mark.NOT_RUN, f"{claim}: no such command since {since}", source)
    return Piece(run_mark(run), f"{claim}: {run_words(run)}", source)


def _fits(claim: str, run: Run) -> bool:
    check = next((check for check in CHECKS if check.name == claim), None)
    if check is not None:
        return re.search(check.run, run.subject, re.IGNORECASE) is not None
    return claim in run.subject
