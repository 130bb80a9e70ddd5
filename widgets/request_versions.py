"""The versions of a request, and remarks on their lines: which came before, what differs, what was said of a line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import takewhile

from team_console.store.model.safe import safe_line
from team_console.store.protocol.remarks import PlacedRemark, Remark, place_remarks, remarks_in
from team_console.store.views.conversation import versions_of
from team_console.store.views.proposals import lines_to_remark
from team_console.store.views.rows import RequestRow, RequestState
from team_console.widgets.document import Remarked


def version_words(row: RequestRow, earlier: Sequence[RequestRow]) -> str:
    """Return which version a plan is, and how many lines it has more and fewer than the one before."""
    return f"version {len(earlier) + 1}, {_lines_words(earlier[0], row)}"


def newer_words(row: RequestRow, newest: RequestRow, requests: Iterable[RequestRow]) -> str:
    """Return which version took the place of a plan, and how many lines it has more and fewer than that."""
    return f"version {len(earlier_plans(newest, requests)) + 1} is here: {_lines_words(row, newest)}"


def _lines_words(before: RequestRow, after: RequestRow) -> str:
    """Return the number of lines that came and went, as `+3 −1`."""
    added, taken = lines_changed(before.question.content, after.question.content)
    return f"+{added} −{taken}"


@lru_cache(maxsize=64)
def lines_changed(before: str, after: str) -> tuple[int, int]:
    """Return the number of lines that only the new text has, and that only the old one has."""
    old, new = Counter(before.splitlines()), Counter(after.splitlines())
    return (new - old).total(), (old - new).total()


SHOWN_VERSIONS = 8
"""Former versions whose remarks and verdicts are shown."""
_LONGEST_REMARK = 2000
"""Characters of a remark."""


def remarks_on(
    row: RequestRow,
    earlier: Sequence[RequestRow],
    content: str | None,
    *,
    typed: Mapping[str, str],
) -> tuple[Remarked, ...]:
    """Return remarks on lines of a request: those sent with what was said to it and its versions, and those `typed`.

    Args:
        earlier: Former plans of the same author, newest first.
        content: The whole content when the stored one is only its beginning.
        typed: Line number -> remark that is still to be sent.
    """
    found = []
    for sent in sent_remarks(row, earlier, content):
        where = "" if sent.now == sent.remark.line else f"{sent.words} · “{sent.remark.quote}” · "
        words = safe_line(f"{where}{sent.remark.text}", _LONGEST_REMARK)
        found.append(Remarked(sent.now or 0, words))
    for line, text in typed.items():
        if line.isdecimal():
            found.append(Remarked(int(line), safe_line(text, _LONGEST_REMARK)))
    return tuple(found)


def sent_remarks(row: RequestRow, earlier: Sequence[RequestRow], content: str | None) -> list[PlacedRemark]:
    """Return the remarks that were sent, oldest first, held against the text of this version."""
    remarks: list[Remark] = []
    for version in (*reversed(earlier[:SHOWN_VERSIONS]), row):
        for message in (*version.talk, version.verdict):
            if message is not None:
                remarks += remarks_in(message.payload)
    return place_remarks(remarks, lines_to_remark(row.question, content)) if remarks else []


def newest_version(row: RequestRow, requests: Iterable[RequestRow]) -> RequestRow | None:
    """Return the last of those that took the place of `row`, one after the other; None where that was taken back."""
    chain = versions_of((other for other in requests if other.kind is row.kind), row.request_id)
    newest = chain[-1] if chain else row
    is_another = newest.request_id != row.request_id and newest.state is not RequestState.WITHDRAWN
    return newest if is_another else None


def earlier_plans(row: RequestRow, requests: Iterable[RequestRow]) -> tuple[RequestRow, ...]:
    """Return the versions of the same that `row` came after, newest first."""
    if not row.supersedes:  # nearly all of them: among thousands looking takes milliseconds, at each key
        return ()
    chain = versions_of((other for other in requests if other.kind is row.kind), row.request_id)
    earlier = list(takewhile(lambda version: version.request_id != row.request_id, chain))
    return tuple(reversed(earlier))
