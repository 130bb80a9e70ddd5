"""Copy a team to another place with its history: queue, archives, attachments and audit trail.

Every step can be repeated: what is there already is not copied again, so a run that was stopped is simply run again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict
from team_console.store.backends.locations import absolute, redact
from team_console.store.backends.open import create_database, is_team, names_database, open_team
from team_console.store.backends.sql.rows import is_storable
from team_console.store.contract.snapshot import Snapshot
from team_console.store.contract.team import AuditLine, Team, attachment_of
from team_console.store.contract.transaction import Transaction
from team_console.store.model.clock import Clock, utc_now
from team_console.store.model.errors import Code, Problem, TeamError
from team_console.store.model.message import Message, Status, ids_of
from team_console.store.model.names import ALL, USER, is_name
from team_console.store.model.recorded_facts import CARRIED, RecordedFacts
from team_console.store.model.safe import counted, safe_line
from team_console.store.protocol.foreign_fields import mappings_in
from team_console.store.service.answerable import requests_in
from team_console.store.service.caller import Caller
from team_console.store.service.running_grants import all_grants
from team_console.store.settings.editing import settings_as_yaml
from team_console.store.settings.team_config import CONFIG_NAME, TeamConfig

_CHUNK = 500
_PAGE = 1000
_EVERYTHING = 10**9
_LASTING_FINDINGS = frozenset({"AUDIT_LOST", "AUDIT_BROKEN", "SETTINGS_TAKEN_UNSIGNED", "KEY_TAKEN_UNSIGNED"})
"""Codes of findings that nothing anybody does takes away."""
Progress = Callable[[str, int], None]
"""Told what was just copied and how many of it so far."""


class MigrationResult(Struct):
    """What a migration did.

    Attributes:
        live, archived, attachments, audit: Copied in this run: messages, archive entries, contents, audit lines.
        updated: Live messages that had moved on at the source since an earlier run.
        already: Messages and archive entries that were there.
        differing: Ids that the target has with another state; they were left alone.
        warnings: What could not be copied, as sentences.
    """

    live: int = 0
    archived: int = 0
    attachments: int = 0
    audit: int = 0
    updated: int = 0
    already: int = 0
    differing: list[str] = []
    warnings: list[str] = []


def open_target(location: str, config: TeamConfig, *, clock: Clock = utc_now) -> Team:
    """Return the team at `location`, made with these settings when there is none.

    Raises:
        TeamError: `TEAM_NOT_FOUND` for a place that cannot become a team, or what the store says.
    """
    if names_database(location):
        create_database(location, settings_as_yaml(config))
        return open_team(location, clock=clock)
    folder = absolute(location)
    if not is_team(folder):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with (folder / CONFIG_NAME).open("x", encoding="utf-8") as file:
                file.write(settings_as_yaml(config))
        except OSError as error:
            text = f"{redact(str(folder))}: {error.strerror or error}"
            raise TeamError(Code.TEAM_NOT_FOUND, text, "Name another folder, or PATH.db.") from error
    return open_team(str(folder), clock=clock)


def migrate(
    source: Team,
    target: Team,
    *,
    actor: str,
    progress: Progress = lambda what, number: None,
    found: Sequence[Problem] = (),
) -> MigrationResult:
    """Copy everything, then compare. Messages written to the source meanwhile are copied by the next run.

    As long as nobody but a migration has written to the target, a repeated run also brings changed states over.

    Args:
        found: What is found on the trail of the source; what of it is told for good goes onto the target's own.

    Raises:
        TeamError: `STORE_UNREADABLE`, `NOT_PERMITTED` when both are the same team, however it is spelt, `STORE_FAILED`
            when something of the source is missing in the target afterwards.
    """
    if source.location == target.location:
        raise TeamError(Code.NOT_PERMITTED, f"{source.location} is both source and target", "Name two teams.")
    migration = _Migration(source, target, actor, progress)
    migration.carry_findings([problem for problem in found if problem.code in _LASTING_FINDINGS])
    return migration.run()


class _Migration:
    """One run of a migration, step by step; `_done` counts what it did."""

    def __init__(self, source: Team, target: Team, actor: str, progress: Progress) -> None:
        self._source, self._target, self._progress = source, target, progress
        self._caller = Caller(target, actor)
        self._done = MigrationResult()
        self._recorded: RecordedFacts | None = None
        self._forged: frozenset[str] = frozenset()
        trail = target.audit(limit=_EVERYTHING)
        if trail and trail == source.audit(limit=_EVERYTHING):
            text = f"{source.location} and {target.location} have one audit trail: they are the same team, or copies"
            raise TeamError(Code.NOT_PERMITTED, text, "Name two teams; between copies there is nothing to do.")

    def run(self) -> MigrationResult:
        """Copy the queue, the archives, the audit trail; then check that nothing is missing.

        The queue comes first: an id that is only archived in the target could not be added any more.
        """
        began = _trail_end(self._source)
        snapshot = self._source.whole().require_known()
        self._warn_of_what_is_left_out(snapshot)
        self._recorded = snapshot.recorded
        self._forged = self._forged_at_source(snapshot)
        live = self._storable_messages((*snapshot.messages, *snapshot.dropped))
        self._copy_live(live)
        names = self._archive_owners(snapshot.config, live)
        archives = {name: self._storable_messages(_all_archived(self._source, name)) for name in names}
        for name, messages in archives.items():
            self._copy_archive(name, messages)
        self._remove_gone(set(ids_of(live)))
        lines = list(reversed(self._source.audit(limit=_EVERYTHING)))
        while chunk := self._copy_lines(lines):
            self._done.audit += chunk
            self._progress("audit lines", self._done.audit)
        self._check_complete(live, archives)
        # guard: written-meanwhile-told
        if _trail_end(self._source) != began:
            text = f"{self._source.location} was written to meanwhile: what waits in the copy may be read there"
            self._done.warnings.append(f"{text}; let nobody write to it, and run the migration again")
        return self._done

    def _warn_of_what_is_left_out(self, snapshot: Snapshot) -> None:
        """Warn of damaged entries, comments, the key and inboxes, which no migration copies."""
        damaged = [problem for problem in snapshot.problems if problem.code == "DAMAGED_ENTRY"]
        self._done.warnings += [f"not copied: {problem.place}: {problem.message}" for problem in damaged]
        self._done.warnings += [f"the settings: not copied: {problem.message}" for problem in snapshot.config.problems]
        if _has_comments(self._source):
            self._done.warnings.append("comments in the settings are not copied")
        if snapshot.config.key:
            self._done.warnings.append("the team key is not copied: set key_file in the settings of the target")
        pushed = sum(message.status == Status.DELIVERED or bool(message.delivered_to) for message in snapshot.messages)
        if pushed:
            text = f"delivered and not acknowledged: {pushed}; inboxes are not copied, so that agents find these in"
            self._done.warnings.append(f"{text} the inbox of {self._source.location}")

    def _is_untouched(self) -> bool:
        """Return whether nobody but migrations wrote to the target; asked under its lock, it stays so.

        Whoever took a message there meanwhile would be handed it again.
        """
        # guard: copy-that-is-used-keeps-its-states
        return all(line.action == "migrate" for line in self._target.audit(limit=_EVERYTHING))

    def _copy_lines(self, lines: Sequence[AuditLine]) -> int:
        """Copy lines of the source's trail of which that of the target does not tell; returns how many."""
        with self._caller.transaction("migrate") as tx:
            trail = self._target.audit(limit=_EVERYTHING)
            ended = [one.grant.message_id for one in all_grants(self._source.snapshot()) if one.over]
            known = max((_last_copied_line(line, self._source.location) for line in trail), default=0)
            chunk = [_line_as_json(line) for line in lines if line.seq > known][:_CHUNK]
            if chunk:
                self._record(tx, audit=chunk, grant=ended)
        return len(chunk)

    def carry_findings(self, found: Sequence[Problem]) -> None:
        """Put on the target's trail what the source's says for good; the copy of its lines does not say it."""
        recorded = self._target.snapshot().require_known().recorded
        there = {(found.code, found.text) for found in recorded.carried} if recorded is not None else set()
        new = [pair for problem in found if (pair := (problem.code, problem.sentence)) not in there]
        if new:
            with self._caller.transaction("migrate") as tx:
                self._record(tx, **{CARRIED: [list(pair) for pair in new]})

    def _storable_messages(self, messages: Iterable[Message]) -> list[Message]:
        """Return the messages whose ids the target can hold; warn of each other one, which stops no copy (D26)."""
        found = list(messages)
        if not names_database(self._target.location):
            return found
        for message in found:
            warning = f"not copied: {safe_line(message.message_id)}: no database holds such an id"
            if not is_storable(message.message_id) and warning not in self._done.warnings:
                self._done.warnings.append(warning)
        # guard: id-without-place-stops-no-copy
        return [message for message in found if is_storable(message.message_id)]

    def _copy_live(self, messages: Sequence[Message]) -> None:
        """Copy the live messages; one that is there in another state is updated where nobody used the copy."""
        with self._caller.transaction("migrate") as tx:
            is_untouched = self._is_untouched()
            for message in messages:
                there = tx.known(message.message_id)
                if there is None:
                    self._copy_attachment(tx, message)
                    tx.add(message)
                    self._done.live += 1
                elif dict(there.record) == dict(message.record):
                    self._done.already += 1
                elif is_untouched and tx.get(message.message_id) is there:
                    tx.replace(there, message)
                    self._done.updated += 1
                else:
                    self._done.differing.append(message.message_id)
            if self._done.live or self._done.updated:
                self._record(tx, live=self._done.live, updated=self._done.updated, **self._ids_by_desk(messages))
        self._progress("messages", self._done.live)

    def _copy_archive(self, name: str, messages: Sequence[Message]) -> None:
        """Copy what the target's archive lacks, oldest first, so that its history is in order, a chunk at a time."""
        there = {record.message_id for record in _all_archived(self._target, name)}
        missing = [message for message in reversed(messages) if message.message_id not in there]
        self._done.already += len(messages) - len(missing)
        for start in range(0, len(missing), _CHUNK):
            chunk = missing[start : start + _CHUNK]
            with self._caller.transaction("migrate") as tx:
                for message in chunk:
                    self._copy_attachment(tx, message)
                    tx.archive(name, message)
                self._record(tx, archive=name, entries=len(chunk), **self._ids_by_desk(chunk))
            self._done.archived += len(chunk)
            self._progress("archive entries", self._done.archived)

    def _record(self, tx: Transaction, **facts: Any) -> None:
        tx.record("migrate", source=self._source.location, **facts)

    def _ids_by_desk(self, messages: Iterable[Message]) -> dict[str, list[str]]:
        """Return the requests and answers that the source's audit trail records as written by team-console."""
        recorded = self._recorded
        ids = [
            message.message_id
            for message in messages
            if recorded is not None
            and recorded.is_by_desk(message.message_id)
            and message.message_id not in self._forged
        ]
        return {"by_desk": ids} if ids else {}

    def _forged_at_source(self, snapshot: Snapshot) -> frozenset[str]:
        """Return the ids of answers that decide nothing at the source: there its trail tells, in the copy it cannot."""
        past = list(_all_archived(self._source, None))
        rows = requests_in(snapshot, [*past, *snapshot.messages]).values()
        return frozenset(message_id for row in rows for message_id in row.forged)

    def _copy_attachment(self, tx: Transaction, message: Message) -> None:
        """Copy the large content of a message, or warn of what it is not."""
        reference = attachment_of(message)
        if reference is None:
            return
        try:
            data = self._source.attachment(reference)
        except TeamError as error:
            self._done.warnings.append(f"{message.message_id}: {error.message}")
            return
        if tx.attach(data) != reference:
            self._done.warnings.append(f"{message.message_id}: the content behind {reference} is not what it was")
        self._done.attachments += 1

    def _remove_gone(self, live: set[str]) -> None:
        """Remove from the target what left the source's queue since an earlier run, once its archive is there."""
        with self._caller.transaction("migrate") as tx:
            tx.read_whole()
            others = [message for message in tx.everything() if message.message_id not in live]
            gone = [message for message in others if tx.is_archived(message)] if self._is_untouched() else []
            for missing in gone:
                tx.remove(missing)
            if gone:
                self._record(tx, removed=len(gone))

    def _archive_owners(self, config: TeamConfig, live: Iterable[Message]) -> list[str]:
        """Return everybody who can have an archive: members, and whoever a message was for or read by."""
        names = {config.lead, USER, *config.agents}
        for message in (*live, *_all_archived(self._source, None)):
            names.update(message.recipients, message.read_by)
        return sorted(name for name in names if is_name(name) and name != ALL)

    def _check_complete(self, live: Sequence[Message], archives: Mapping[str, Sequence[Message]]) -> None:
        """Refuse to end as long as a message of the source is missing in the target."""
        target = {message.message_id for message in self._target.whole().require_known().messages}
        archived = {record.message_id for record in _all_archived(self._target, None)}
        missing = [message.message_id for message in live if message.message_id not in target | archived]
        for name, messages in archives.items():
            there = {record.message_id for record in _all_archived(self._target, name)}
            missing += [message.message_id for message in messages if message.message_id not in there]
        if missing:
            text = f"{counted(len(missing), 'message')} missing in {self._target.location}, {missing[0]} among them"
            raise TeamError(Code.STORE_FAILED, text, "Run the migration again; nothing is copied twice.")


def _trail_end(team: Team) -> int:
    """Return the number of the last line on a team's audit trail, 0 for none."""
    return max((line.seq for line in team.audit(limit=1)), default=0)


def _has_comments(team: Team) -> bool:
    """Return whether the file with the settings, where there is one, has comments; every setting starts a line."""
    if team.folder is None:
        return False
    try:
        text = (team.folder / CONFIG_NAME).read_text(errors="replace")
    except OSError:
        return False
    return any(line.lstrip().startswith("#") or " #" in line for line in text.splitlines())


def _all_archived(team: Team, name: str | None) -> Iterator[Message]:
    """Yield all archived messages, newest first."""
    cursor: str | None = None
    while True:
        page = team.history(agent=name, cursor=cursor, limit=_PAGE)
        yield from page.messages
        cursor = page.cursor
        if cursor is None:
            return


def _line_as_json(line: AuditLine) -> dict[str, Any]:
    told = asdict(line) | {"facts": dict(line.facts)}
    del told["seal"]
    return told


def _last_copied_line(line: AuditLine, location: str) -> int:
    """Return the last line of the source that this line of the target tells of, 0 for none."""
    told = mappings_in(line.facts, "audit")
    if line.action != "migrate" or line.facts.get("source") != location or not told:
        return 0
    seq = told[-1].get("seq")
    return seq if isinstance(seq, int) else 0
