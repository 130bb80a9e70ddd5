"""The language in which messages and requests are looked for, the same in the console and on the command line.

`from:bob to:ceo kind:plan status:failed is:open since:2d before:2026-11-01 -draft "exact words"`: all of it has to
fit. A word is found anywhere in the text, in capitals as they are typed and else in any; `-` in front of anything
leaves out what fits it; `with:bob` is from or to bob, `me` is whoever looks; `from:bob` is a name or the beginning of
one of its words, `from:"bob"` is not bobby, and `*` in a name stands for anything; `@late` is a saved query, and
`-@late` leaves out what fits all of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.model.clock import from_text
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.message import Message, Status
from team_console.store.model.names import ALL
from team_console.store.protocol.parsing import parse_message
from team_console.store.protocol.placed_message import EARLIEST
from team_console.store.views.rows import RequestRow

KEYS = ("from", "to", "with", "kind", "status", "is", "since", "before")
"""What stands before a colon; an address is a word."""
MARKS = ("open", "decided", "mine", "late", "unread", "read", "failed")
"""What `is:` asks for."""
_QUERY_PART = re.compile(r'(?P<no>-)?(?:(?P<key>[a-z]+):)?(?:"(?P<exact>[^"]*)"?|(?P<word>[^\s"]\S*))', re.ASCII)
"""One part of a query: `-`, a field and its colon, then words in quotes or one word: `-from:bob`, `"exact words"`."""
_CLOCK = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
_DAYS_AGO = {"today": 0, "yesterday": 1}
_ME = "me"
_AGE = re.compile(r"(\d+)\s*([smhdw])")
"""How long ago: `30m`, `2 d`."""
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_KEYS_WITH_COLON = frozenset(f"{key}:" for key in KEYS)
_BEGUN_FIELD = re.compile("([a-z]+):")
"""A field without its value yet, whether or not there is one of that name: `from:`, `form:`."""
_DEEPEST_SAVED = 5
"""Saved queries that name saved queries."""


class Searchable(Struct, frozen=True):
    """What a query looks at.

    Attributes:
        texts: In which a word may be: names, ids, everything that is said.
        kinds: The names of its kind: `plan_approval_request`, `plan`.
        status: Of a message, or the state of a request.
        marks: What `is:` finds.
    """

    texts: Sequence[str]
    sender: str
    recipients: Sequence[str]
    kinds: Sequence[str]
    status: str
    at: datetime | None
    marks: frozenset[str]


class Term(Struct, frozen=True):
    """One part of a query.

    Attributes:
        key: Empty for a word; `@` for a saved query that is left out as a whole.
        moment: What `since:` and `before:` mean.
        pattern: What finds a word.
        is_whole: Only the whole name fits, to the letter: `dev` is not `DEV`.
        parts: The terms of that saved query: what fits all of them is left out.
    """

    key: str
    value: str = ""
    is_negated: bool = False
    moment: datetime | None = None
    pattern: re.Pattern[str] | None = None
    is_whole: bool = False
    parts: tuple[Term, ...] = ()

    def fits(self, found: Searchable) -> bool:
        """Return whether this part fits."""
        return self._is_in(found) is not self.is_negated

    def _is_in(self, found: Searchable) -> bool:
        """Return whether what this term asks for is there; whether it is negated does not count here."""
        match self.key:
            case "@":
                return all(part.fits(found) for part in self.parts)
            case "from":
                return self._is_named([found.sender])
            case "to":
                return self._is_named(found.recipients)
            case "with":
                # What is for everybody is for any whole name but its sender's (requirement 16).
                is_for_all = self.is_whole and ALL in found.recipients and self.value != found.sender
                return is_for_all or self._is_named([found.sender, *found.recipients])
            case "kind":
                return self._is_named(found.kinds)
            case "status":
                return self._is_named([found.status])
            case "is":
                return self.value.casefold() in found.marks
            case "since":
                return self.moment is None or (found.at or EARLIEST) >= self.moment
            case "before":
                return self.moment is None or (found.at or EARLIEST) < self.moment
        return self.pattern is None or any(self.pattern.search(text) for text in found.texts)

    def _is_named(self, names: Iterable[str]) -> bool:
        """Return whether one of the names is the one that is asked for, or has a word that begins so."""
        if self.is_whole:
            return self.value in names
        is_exact = any(letter.isupper() for letter in self.value)
        sought = self.value if is_exact else self.value.casefold()
        for name in names:
            seen = name if is_exact else name.casefold()
            if fnmatchcase(seen, sought) if "*" in sought else _begins_a_word(sought, seen):
                return True
        return False


def _begins_a_word(sought: str, name: str) -> bool:
    """Return whether a word of a name begins so: `pay` is in `backend-payments`, `me` is not."""
    at = name.find(sought)
    while at > 0 and name[at - 1].isalnum():
        at = name.find(sought, at + 1)
    return at >= 0


class Query(Struct, frozen=True):
    """Everything that is asked for; one without terms lets everything through."""

    terms: tuple[Term, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """The words that are looked for, to be marked where they are found."""
        return tuple(term.value for term in self.terms if not term.key and not term.is_negated and term.value)

    @property
    def every_term(self) -> tuple[Term, ...]:
        """All terms, with those of saved queries that are left out."""
        return tuple(_with_parts(self.terms))

    def fits(self, found: Searchable) -> bool:
        """Return whether all of it fits."""
        return all(term.fits(found) for term in self.terms)


def _with_parts(terms: Iterable[Term]) -> Iterator[Term]:
    """Yield terms, each with those that it holds behind it."""
    for term in terms:
        yield term
        yield from _with_parts(term.parts)


def parse_query(text: str, *, now: datetime, saved: Mapping[str, str] | None = None, me: str = "") -> Query:
    """Understand a query; a field without a value yet asks for nothing.

    Args:
        saved: Name -> query, for `@name`.
        me: Who looks; `me` stands for it where a name is asked for.

    Raises:
        TeamError: `USAGE` for an unknown field, time or word after `is:`, with the nearest ones, or a saved query that
            is not there.
    """
    return Query(tuple(_terms(text, now, saved or {}, me)))


def _nearest_hint(word: str, known: Sequence[str]) -> str:
    """Return a hint: the known words that come near, else all of them."""
    near = get_close_matches(word, known, n=3)
    return f"Did you mean {' or '.join(near)}?" if near else f"Known are {', '.join(known)}."


def refuse_unfinished(text: str) -> None:
    """Refuse a query that asks for nothing, or a field without a value: a script whose variable is empty would get
    everything for it.

    Raises:
        TeamError: `USAGE`.
    """
    parts = list(_QUERY_PART.finditer(text))
    fields = [f"{part['key']}:" for part in parts if part["key"] and not (part["exact"] or part["word"])]
    fields += [part["word"] for part in parts if not part["key"] and part["word"] in _KEYS_WITH_COLON]
    # guard: unfinished-query-refused
    if fields or not text.strip():
        what = f"{fields[0]} has no value" if fields else "the query is empty"
        raise TeamError(Code.USAGE, f"--find: {what}", "Give what is looked for, or leave it out.")


def _terms(text: str, now: datetime, saved: Mapping[str, str], me: str, depth: int = 0) -> Iterator[Term]:
    """Yield the terms of a query, those of saved queries in their place; arguments as for `parse_query`."""
    for part in _QUERY_PART.finditer(text):
        key, value, is_whole = part["key"] or "", part["exact"] or part["word"] or "", part["exact"] is not None
        if key and key not in KEYS and value.startswith("//"):  # an address is a word
            key, value = "", f"{key}:{value}"
        is_plain_word = not key and not is_whole
        begun = _BEGUN_FIELD.fullmatch(value) if is_plain_word else None
        field = begun[1] if begun is not None else key
        if field and field not in KEYS:
            hint = f"{_nearest_hint(f'{field}:', [f'{name}:' for name in KEYS])} Quotes make it words."
            raise TeamError(Code.USAGE, f"there is no field {field:.40}:", hint)
        if begun is not None or not value:
            continue
        is_negated = part["no"] is not None
        if not (is_plain_word and value.startswith("@") and len(value) > 1):
            if me and key in ("from", "to", "with") and not is_whole and value.casefold() == _ME:
                value, is_whole = me, True
            yield _term(key, value, is_negated, is_whole, now)
            continue
        if value[1:] not in saved or depth > _DEEPEST_SAVED:
            hint = f"Saved are: {', '.join(sorted(saved))}." if saved else "Save one under [filters] in config.toml."
            raise TeamError(Code.USAGE, f"no query is saved as {value:.41}", hint)
        terms = _terms(saved[value[1:]], now, saved, me, depth + 1)
        if is_negated:
            yield Term("@", value, is_negated=True, parts=tuple(terms))
        else:
            yield from terms


def _term(key: str, value: str, is_negated: bool, is_whole: bool, now: datetime) -> Term:
    """Return one term, its time or expression read."""
    if key in ("since", "before"):
        return Term(key, value, is_negated, moment=moment_of(value, now, named=f"{key}:"))
    if key == "is" and value.casefold() not in MARKS:
        hint = _nearest_hint(f"is:{value.casefold()}", [f"is:{mark}" for mark in MARKS])
        raise TeamError(Code.USAGE, f"is:{value:.40} is not known", hint)
    if key:
        return Term(key, value, is_negated, is_whole=is_whole)
    flags = re.RegexFlag(0) if any(letter.isupper() for letter in value) else re.IGNORECASE
    return Term(key, value, is_negated, pattern=re.compile(re.escape(value), flags))


def moment_of(text: str, now: datetime, *, named: str) -> datetime:
    """Return a date, a time (local without a zone), a word for a day, a time of day that was last, or an age: 30m.

    Raises:
        TeamError: `USAGE`, with `named` for where it stands.
    """
    age = _AGE.fullmatch(text.strip())
    try:
        if age is not None:
            return now - timedelta(**{_UNITS[age.group(2)]: int(age.group(1))})
    except (OverflowError, ValueError):  # also for more digits than Python makes a number of
        return datetime.min.replace(tzinfo=UTC)
    moment = _day_or_clock(text.strip().casefold(), now) or _local_time(text) or from_text(text)
    if moment is None:
        hint = (
            "Give today, yesterday, 14:00, a date or time (2026-02-24, 2026-02-24T10:30:00Z) or an age (30m, 12h, 7d)."
        )
        raise TeamError(Code.USAGE, f"{named} {text!r:.80} is not a time", hint)
    return moment


def _day_or_clock(text: str, now: datetime) -> datetime | None:
    """Return the beginning of today or yesterday, or when it was such a time of day last; None for any other text."""
    today = now.astimezone().replace(tzinfo=None)  # wall clock: the hour before may have had another offset
    if text in _DAYS_AGO:
        return (today.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=_DAYS_AGO[text])).astimezone(
            UTC
        )
    clock = _CLOCK.fullmatch(text)
    if clock is None:
        return None
    hour, minute = map(int, clock.groups())
    moment = today.replace(hour=hour, minute=minute, second=0, microsecond=0)
    last = moment.astimezone(UTC)
    return last if last <= now else (moment - timedelta(days=1)).astimezone(UTC)


def _local_time(text: str) -> datetime | None:
    """Read a time without a zone as the local time that log lines print; None for any other text."""
    try:
        moment = datetime.fromisoformat(text.strip())
        return None if moment.tzinfo is not None else moment.astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None


def history_query(
    *,
    now: datetime,
    agent: str | None = None,
    since: str | None = None,
    type: str | None = None,
    grep: str | None = None,
) -> Query:
    """Return the query of the options of `history`.

    Raises:
        TeamError: `USAGE` for a time or an expression that cannot be read.
    """
    terms: list[Term] = []
    try:
        if grep:
            terms.append(Term("", pattern=re.compile(grep)))
    except re.error as error:
        text = f"--grep {grep!r:.80} is not a regular expression: {error}"
        raise TeamError(Code.USAGE, text, "Put a backslash before a character that is meant as it is.") from error
    if agent is not None:
        terms.append(Term("with", agent, is_whole=True))
    if since:
        terms.append(Term("since", since, moment=moment_of(since, now, named="--since")))
    if type:
        terms.append(Term("kind", type, is_whole=True))
    return Query(tuple(terms))


def searchable_texts(*texts: str, at: datetime | None = None) -> Searchable:
    """Return the fields that a query searches where there are only words."""
    return Searchable(texts, "", (), (), "", at, frozenset())


def searchable_message(message: Message) -> Searchable:
    """Return the fields of a message that a query searches."""
    read = parse_message(message)
    asked = (read.opens, read.answers)
    kinds = (message.type, read.name, *(str(kind) for kind in asked if kind is not None))
    marks = {"failed"} & {message.status} | ({"read"} if message.status == Status.READ else {"unread"})
    return Searchable(
        texts=(*kinds, str(message.status), str(message.priority), *_texts_in(message)),
        sender=message.sender,
        recipients=message.recipients,
        kinds=kinds,
        status=str(message.status),
        at=message.created_at,
        marks=frozenset(marks),
    )


def searchable_request(row: RequestRow, *, me: str) -> Searchable:
    """Return the fields of a request that a query searches."""
    found = searchable_message(row.question)
    return Searchable(
        texts=(*found.texts, row.state, row.request_id, row.title, row.reason),
        sender=row.asker,
        recipients=(row.addressee, *([row.answered_by] if row.answered_by else [])),
        kinds=(*found.kinds, str(row.kind)),
        status=str(row.state),
        at=row.asked_at,
        marks=_marks_of(row, me),
    )


def _marks_of(row: RequestRow, me: str) -> frozenset[str]:
    marks = {"open" if row.is_open else "decided", *(["late"] if row.state == "overdue" else [])}
    return frozenset(marks | ({"mine"} if me in (row.asker, row.addressee) else set()))


def searchable_with_requests(requests: Iterable[RequestRow], me: str) -> Callable[[Message], Searchable]:
    """Return what finds messages: one that asks also by how its request stands."""
    asked = {row.question.message_id: row for row in requests}

    def found(message: Message) -> Searchable:
        row, plain = asked.get(message.message_id), searchable_message(message)
        return plain if row is None else replace(plain, marks=plain.marks | _marks_of(row, me))

    return found


def query_completions(text: str, values: Mapping[str, Iterable[str]]) -> list[str]:
    """Return the queries that `text` may become: its last part with a key, or with a value of its key.

    Args:
        values: Key -> what may stand behind it, `@` -> names of saved queries; `is` is known here.
    """
    part = text.rpartition(" ")[2].removeprefix("-")
    key, colon, _ = part.partition(":")
    if part.startswith("@"):
        ends = [f"@{name}" for name in values.get("@", ())]
    elif colon:
        known = MARKS if key == "is" else values.get("from" if key in ("to", "with") else key, ())
        ends = [f"{key}:{value}" for value in known]
    else:
        ends = [f"{name}:" for name in KEYS]
    is_begun = part not in ("", "@")
    stays = text.removesuffix(part)
    return [stays + end for end in ends if is_begun and end.startswith(part) and end != part]


def _texts_in(message: Message) -> Iterator[str]:
    """Yield every text of a message in which words are looked for."""
    yield from (message.message_id, message.sender, *message.recipients)
    ahead: list[Any] = [message.payload]
    while ahead:
        value = ahead.pop()
        if isinstance(value, Mapping):
            ahead += value.values()
        elif isinstance(value, (list, tuple)):
            ahead += value
        elif value is not None:
            yield str(value)
