"""One call of a verb: its options, the team it is about, who acts, and where the result goes."""

from __future__ import annotations

import os
import re
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from team_console.console.cli.output import is_terminal
from team_console.console.cli.unheard_names import is_in_settings, unheard_actor
from team_console.store.backends.open import open_team
from team_console.store.contract.transaction import ChangedError
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.json_text import parse_json, parse_json_sequence, without_comments
from team_console.store.model.message import Message
from team_console.store.model.names import canonical, check_name, nearest
from team_console.store.model.safe import safe_line
from team_console.store.protocol.client_requests import Question
from team_console.store.protocol.verdicts import Face, Seen, digest_of, is_human, seen_of
from team_console.store.service.caller import Caller

if TYPE_CHECKING:
    from team_console.console.cli.output import Output
    from team_console.store.contract.team import Snapshot, Team
    from team_console.store.model.errors import Problem
    from team_console.store.service.caller import Caller, Receipt
    from team_console.store.views.rows import View


LOCK_WAIT = 10.0
"""Seconds a verb waits for the lock (decision D7)."""


class Call:
    """What a verb's `run` gets. The team is opened when first asked for."""

    def __init__(self, options: Namespace, out: Output) -> None:
        self.options = options
        self.out = out
        self._team: Team | None = None

    @property
    def team(self) -> Team:
        """The team of `-t`, of the environment, or of the project around the current folder.

        Raises:
            TeamError: `TEAM_NOT_FOUND`.
        """
        if self._team is None:
            self._team = open_team(self.options.team, read_only=self.options.read_only)
        return self._team

    @property
    def given_actor(self) -> str | None:
        """The name given with `--as` or `TEAM_CONSOLE_AS`, None when neither is.

        Raises:
            TeamError: `INVALID_NAME`; `ACTOR_BOUND` for a human's name in the process of an agent.
        """
        given = self.options.actor
        if given is None:  # an empty --as of a script whose variable is not set must not act as the lead
            given = _bound()
        else:
            self.refuse_to_rise(given, field="--as")
        return check_name(given, field="--as") if given is not None else None

    def refuse_to_rise(self, given: str, *, field: str) -> None:
        """Whoever's environment says that it is an agent acts as no human (decision D24).

        Args:
            given: Who is to act, as `field` says.

        Raises:
            TeamError: `ACTOR_BOUND`.
        """
        bound, given = _bound(), canonical(given)
        if bound is None or bound == given:
            return

        config = self.team.config()
        # guard: agent-acts-as-no-human
        if is_human(config, given) and not is_human(config, bound):
            text = f"this is the process of {bound} (TEAM_CONSOLE_AS), so it cannot act as {given}"
            hint = f"Leave out {field}. {given} acts at the console, or in a shell without TEAM_CONSOLE_AS."
            raise TeamError(Code.ACTOR_BOUND, text, hint)

    @property
    def agent(self) -> str | None:
        """The agent a verb is about, as `NAME` or `--agent NAME`; None when neither is given.

        Raises:
            TeamError: `USAGE` for two agents.
        """
        given = list(
            dict.fromkeys(canonical(name) for name in (self.options.named, self.options.agent) if name is not None)
        )
        if len(given) > 1:
            raise TeamError(Code.USAGE, f"two agents are named, {given[0]} and {given[1]}", "Name one of them.")
        return given[0] if given else None

    @property
    def actor(self) -> str:
        """Who acts: the given name, else the team's lead."""
        return self.given_actor or self.team.config().lead

    def looker(self, snapshot: Snapshot) -> str:
        """Who looks: the given name, else the lead as the snapshot knows it: a harmed store cannot tell it anew."""
        return self.given_actor or snapshot.config.lead

    @property
    def caller(self) -> Caller:
        """The actor at the team, for the desk."""

        return Caller(self.team, self.actor, LOCK_WAIT)

    @property
    def decider(self) -> Caller:
        """The actor at the team, for what only a human or the one who is asked decides.

        Raises:
            TeamError: `ACTOR_UNNAMED` off a terminal, where a missing name is no proof that the lead sits there.
        """
        on_terminal = is_terminal(sys.stdin) or is_terminal(sys.stdout)
        # guard: decider-is-named
        if self.given_actor is None and not on_terminal:
            text = "this is not a terminal, so it must be said who decides"
            raise TeamError(Code.ACTOR_UNNAMED, text, "Say who decides with --as NAME, or with TEAM_CONSOLE_AS.")
        return replace(self.caller, on_terminal=on_terminal)

    def snapshot(self) -> Snapshot:
        """The team as it is now.

        Raises:
            TeamError: `STORE_UNREADABLE` when the queue cannot be read; an empty answer would be a lie.
        """
        snapshot = self.team.snapshot()
        if not snapshot.is_known:
            raise unreadable(snapshot, self.team.location)
        return snapshot

    def view(self) -> View:
        """Everything views know about the team now, for the actor.

        Raises:
            TeamError: `STORE_UNREADABLE`.
        """
        from team_console.store.views.status import view_of_team

        snapshot = self.snapshot()
        return view_of_team(self.team, snapshot, me=self.looker(snapshot))

    def doubts(self, snapshot: Snapshot, problems: Sequence[Problem] = ()) -> list[str]:
        """Say why what is listed may not be all: lost, damaged, or of a team whose settings are gone (D16).

        Args:
            problems: What else kept the list from being whole.
        """
        from team_console.store.views.status import assess

        reasons = assess(snapshot, self.team.clock()).doubts
        sentences = [problem.sentence for problem in problems] + [reason.sentence for reason in reasons]
        return list(dict.fromkeys(sentences))

    def print_list(self, listed: Mapping[str, Any], snapshot: Snapshot, problems: Sequence[Problem] = ()) -> None:
        """Print a list as JSON, with `doubt`: why it may not be all, or null."""
        self.out.json({**listed, "doubt": " ".join(self.doubts(snapshot, problems)) or None})

    def tell_doubt(self, snapshot: Snapshot) -> None:
        """Warn that what was listed may not be all."""
        self.out.warn(self.doubts(snapshot))

    def tell_stranger(self, snapshot: Snapshot | None = None) -> None:
        """Warn that whoever acts or looks is nobody of the team, as after a slip in `--as`.

        Without a `snapshot` the queue is read only for a name that the settings do not know.
        """
        name = self.given_actor
        if name is None:
            return

        config = self.team.config() if snapshot is None else snapshot.config
        if not is_in_settings(config, name):
            self.out.warn(unheard_actor(snapshot or self.team.snapshot(), name))

    def tell_zone(self) -> None:
        """Say on standard error in which zone the times of a listing are, where it is not UTC."""
        zone = self.team.clock().astimezone().isoformat()[-6:]
        if zone != "+00:00":
            self.out.note(f"times are local, UTC{zone} (with TZ=UTC: UTC)")

    def tell_outage(self, words: str) -> None:
        """Say on standard error, while a verb waits, that its store is away or back."""
        self.out.note(f"team-console: {safe_line(words)}")

    def finish(self, receipt: Receipt, lines: list[str]) -> int:
        """Print what a write action did: its JSON object, or `lines` and its warnings."""
        if self.out.as_json:
            self.out.json(receipt.as_json())
            return 0
        for line in lines:
            self.out.say(line)
        self.out.warn([*receipt.warnings, *(notice.message for notice in receipt.notices)])
        return 0

    def close(self) -> None:
        """Release the team."""
        if self._team is not None:
            self._team.close()


def _bound() -> str | None:
    """The agent whose process this is, as its environment says; None when it does not say."""
    return canonical(os.environ.get("TEAM_CONSOLE_AS", "")) or None


def unreadable(snapshot: Snapshot, location: str) -> TeamError:
    """The error for a queue that is there and cannot be read, or is gone: never shown as empty (decision D16)."""
    from team_console.store.views.status import assess

    truth = assess(snapshot, snapshot.taken_at)
    why = truth.reasons[0]
    message = why.text if location in why.text else f"{location}: {why.text}"
    hint = why.hint or "team-console status says more."
    return TeamError(Code.STORE_UNREADABLE, message, hint, condition=str(truth.state))


def split_names(values: list[str] | None) -> list[str]:
    """Names given as `A,B` or by repeating the option, each in its one spelling, in order, without empty ones."""
    return [canonical(name.strip()) for value in values or () for name in value.split(",") if name.strip()]


# Options chosen on the command line: `LABEL`, a number, or `HEADER=LABEL` where several questions were asked.

Answers = dict[str, str | list[str]]


def answers_from(questions: Sequence[Question], options: Iterable[str], texts: Iterable[str]) -> Answers:
    """Question text -> what was chosen or said.

    Args:
        options: Labels or numbers of options; of the n-th question, or the one with that header, as `n=LABEL` or
            `HEADER=LABEL`.
        texts: Own words, named in the same way where there are several questions.

    Raises:
        TeamError: `INVALID_FIELD` for an option nobody offered, with the nearest; `USAGE` where it does not say
            which question it answers.
    """
    chosen: dict[str, list[str]] = {}
    for word in options:
        question, label = _option(questions, word)
        chosen.setdefault(question.text, []).append(label)
    for word in texts:
        question, said = _said(questions, word)
        chosen.setdefault(question.text, []).append(said)
    several = {question.text for question in questions if question.several}
    return {text: words if text in several or len(words) > 1 else words[0] for text, words in chosen.items()}


def _option(questions: Sequence[Question], word: str) -> tuple[Question, str]:
    """The question an option belongs to and its label; a label that holds a `=` itself comes first."""
    offering = [question for question in questions if _label(question, word) is not None]
    if len(offering) == 1:
        return offering[0], _label(offering[0], word) or word
    named = _named(questions, word)
    if named is not None:
        question, rest = named
        label = _label(question, rest) or _numbered(question, rest)
        if label is None:
            raise _no_such_option((question,), rest)
        return question, label
    if len(offering) > 1:
        raise _which(questions, word)
    label = _numbered(questions[0], word) if len(questions) == 1 else None
    if label is None:
        raise _no_such_option(questions, word)
    return questions[0], label


def _said(questions: Sequence[Question], word: str) -> tuple[Question, str]:
    if len(questions) == 1:
        return questions[0], word
    named = _named(questions, word)
    if named is None:
        raise _which(questions, word)
    return named


def _named(questions: Sequence[Question], word: str) -> tuple[Question, str] | None:
    """What `HEADER=REST` or `2=REST` names."""
    key, sign, rest = word.partition("=")
    key = key.strip().casefold()
    if not sign or not key:
        return None
    for number, question in enumerate(questions, start=1):
        if key in (str(number), question.header.strip().casefold()):
            return question, rest.strip()
    return None


def _label(question: Question, word: str) -> str | None:
    """The label as the asker wrote it, however the word's letters are cased."""
    labels = [option.label for option in question.options]
    if word in labels:
        return word
    alike = [label for label in labels if label.casefold() == word.strip().casefold()]
    return alike[0] if len(alike) == 1 else None


def _numbered(question: Question, word: str) -> str | None:
    number = int(word) if word.isascii() and word.isdigit() and len(word) < 4 else 0
    return question.options[number - 1].label if 0 < number <= len(question.options) else None


def _no_such_option(questions: Sequence[Question], word: str) -> TeamError:
    labels = [option.label for question in questions for option in question.options]
    meant = nearest(word, labels)
    offered = f"Offered: {', '.join(labels):.300}." if labels else "It offers no options."
    guess = f"Did you mean {meant}? " if meant else ""
    return TeamError(Code.INVALID_FIELD, f"there is no option {word:.80}", f"{guess}{offered} Own words: --text WORDS.")


def _which(questions: Sequence[Question], word: str) -> TeamError:
    names = ", ".join(f"{question.header or number}=..." for number, question in enumerate(questions, start=1))
    return TeamError(Code.USAGE, f"which question does {word:.80} answer?", f"Name it: {names}")


# What the command line showed of a request before it is answered: `show` names it, `--seen` quotes it.

_WORD = re.compile(r"[0-9a-f]{64}")


def add_seen(parser: ArgumentParser) -> None:
    """Declare the option."""
    text = "answer only what show REQUEST printed with this word; without it the verdict says that nothing was shown"
    parser.add_argument("--seen", metavar="WORD", help=text)


def seen_by(call: Call, question: Message | None = None) -> Seen:
    """What was shown to whoever answers, for the record of the verdict.

    Args:
        question: The request as it was read already, which the answer is to be on in any case.

    Raises:
        ChangedError: The request is not what `show` printed with this word.
        TeamError: `INVALID_FIELD` for a word that `show` never prints.
    """
    from team_console.store.service.requests import live_question

    word = call.options.seen
    if word is None:
        return Seen(digest_of(question) if question is not None else "", face=Face.NAMED)
    if not _WORD.fullmatch(word):
        hint = f"team-console show {call.options.request} prints it."
        raise TeamError(Code.INVALID_FIELD, "--seen takes the whole word that show prints, 64 hexadecimal digits", hint)
    question = question or live_question(call.snapshot(), call.options.request, word)
    if question is None:
        return Seen(word, face=Face.PRINTED)
    # guard: answered-what-show-printed
    if digest_of(question) != word:
        raise ChangedError(call.options.request, question)
    return seen_of(question, face=Face.PRINTED)


# Reads a content handed in on standard input: whole, as UTF-8, and not without end.

_MAX_BYTES = 64 * 1024 * 1024


def content(value: str | None) -> str | None:
    """`value`, or what standard input holds when it is `-`.

    Raises:
        TeamError: `INVALID_FIELD` for bytes that are not UTF-8, `CONTENT_TOO_LARGE` above 64 MiB.
    """
    return read("content") if value == "-" else value


def file_text(path: str, *, what: str) -> str:
    """The text of a file, or of standard input when it is `-`.

    Raises:
        TeamError: `INVALID_FIELD` for what cannot be read or is not UTF-8, `CONTENT_TOO_LARGE` above 64 MiB.
    """
    if path == "-":
        return read(what)
    try:
        with open(path, "rb") as stream:
            return _text(stream.read(_MAX_BYTES + 1), what, path)
    except OSError as error:
        raise TeamError(
            Code.INVALID_FIELD, f"{what}: {path}: {error.strerror}", "Name a file that can be read, or - for stdin."
        ) from None


def json_documents(text: str, *, hint: str) -> list[Any]:
    """Parse JSON values that follow one another, over any number of lines and with `// comments` (seed 001).

    In JSON lines a value that cannot be read is its `TeamError` (`INVALID_FIELD` with the place), and the others are
    there. In any other text nobody can tell where the next value begins, so the error is all there is.

    Raises:
        TeamError: `INVALID_FIELD` when standard input is empty.
    """

    text = without_comments(text)
    if not text.strip():
        raise TeamError(Code.INVALID_FIELD, "standard input is empty", hint)
    try:
        return parse_json_sequence(text, what="standard input", hint=hint)
    except TeamError as error:
        # Not splitlines: a JSON text may hold U+2028, U+0085 and others that it takes for line ends.
        lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
        if len(lines) < 2 or not all(
            line.lstrip().startswith("{") and line.rstrip().endswith("}") for _, line in lines
        ):
            return [error]
    return [_document(line, number, hint) for number, line in lines]


def _document(line: str, number: int, hint: str) -> Any:

    try:
        return parse_json(line, what=f"standard input, document in line {number}", hint=hint)
    except TeamError as error:
        return error


def read(what: str) -> str:
    """All of standard input as text; `what` names it in an error.

    Raises:
        TeamError: As `content`.
    """
    stream = sys.stdin
    data = stream.buffer.read(_MAX_BYTES + 1) if stream is not None else b""
    return _text(data, what, "standard input")


def _text(data: bytes, what: str, place: str) -> str:
    if len(data) > _MAX_BYTES:
        where = "on standard input" if place == "standard input" else f"in {place}"
        raise TeamError(Code.CONTENT_TOO_LARGE, f"{what}: more than {_MAX_BYTES >> 20} MiB {where}")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TeamError(
            Code.INVALID_FIELD,
            f"{what}: byte {error.start} of {place} is not UTF-8",
            "Convert it first, for example with iconv -t UTF-8.",
        ) from None


# Looks at a team long enough to tell a lock that blocks from one that is only being used.

_PAUSE = 0.05


def watched(team: Team) -> Snapshot:
    """The team as it is now. A lock that is held is watched for a second, to tell one that blocks from a write.

    What counts is the moment of the last look, not now: a look on a busy machine is old when it is there.
    """
    from team_console.store.views.status import LONG_WRITE, is_in_the_way

    snapshot = team.snapshot()
    first, until = snapshot.holder, time.monotonic() + 2 * LONG_WRITE
    while (holder := snapshot.holder) is not None and first is not None and time.monotonic() < until:
        is_same = (holder.pid, holder.since) == (first.pid, first.since)
        if not is_same or is_in_the_way(holder, snapshot.taken_at):
            break
        time.sleep(_PAUSE)
        snapshot = team.snapshot()
    return snapshot
