"""Put back what a writer that does not lock did to the queue, by what the trail says it should hold (cases 29-32).

Others may add messages and move them forward; they may not lose one or move one back without being healed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property

from msgspec import Struct
from team_console.store.backends.yaml.audit_trail import AuditTrail, RecordPatch, TransactionLine
from team_console.store.backends.yaml.commit import changed_keys
from team_console.store.backends.yaml.disk import Disk, FileVersion
from team_console.store.backends.yaml.entry_format import TextError
from team_console.store.backends.yaml.layout import Layout
from team_console.store.backends.yaml.queue import QueueFile, QueueText
from team_console.store.model.errors import Problem
from team_console.store.model.message import (
    DONE,
    STATE_KEYS,
    FieldDict,
    Message,
    by_id,
    changed_parts,
    from_record,
    ids_of,
    is_ahead,
    is_same,
    progress_of,
)
from team_console.store.model.recorded_facts import REWORDED


def _is_beginning(here: object, wanted: object) -> bool:
    """Return whether a value is the one that is wanted or its beginning, as a file that ends too early has it."""
    if isinstance(wanted, Mapping):
        return _is_beginning_of_mapping(here, wanted)
    if isinstance(here, list) and isinstance(wanted, list):
        return len(here) <= len(wanted) and all(map(_is_beginning, here, wanted))
    if isinstance(here, str) and isinstance(wanted, str):
        return wanted.startswith(here.rstrip("\n"))
    if isinstance(wanted, (bool, int, float)) and isinstance(here, (str, int, float)):
        return str(wanted).lower().startswith(str(here).lower())
    return here == wanted or here is None


def _is_beginning_of_mapping(here: object, wanted: Mapping[str, object]) -> bool:
    """Return whether it is the beginning of a mapping, whose last key may be cut: `su`, or `su: null`, of `summary`."""
    if not isinstance(here, Mapping):
        return here is None or (isinstance(here, str) and any(key.startswith(here) for key in wanted))
    for key, value in here.items():
        is_cut_key = value is None and any(other.startswith(str(key)) for other in wanted)
        if not (key in wanted and _is_beginning(value, wanted[key])) and not is_cut_key:
            return False
    return True


SYSTEM = "system"
"""Actor of what recovery does by itself."""
MessagesById = Mapping[str, Message]
"""Messages of a queue by id."""
HEALED_LOST, HEALED_STATE, HEALED_CUT = "HEALED_LOST", "HEALED_STATE", "HEALED_CUT"
HEALED_ANSWER = "HEALED_ANSWER"
"""Codes of what is put back: a message, its state, its end, the words of an answer to a request."""
CHANGED = "CHANGED_MESSAGE"
"""The code of what stays: a message that says something else than is on record of it."""
_HINT = "Let programs write through 'team-console', or lock the .lock file; see 'drop/' for scripts that cannot."


class Healing(Struct):
    """What to do to a queue, what was new in it, and what to tell.

    Attributes:
        adds, changes, removed: As in `TransactionLine`.
        noted: Messages that others added or moved forward.
        reworded: Id of each message that says something else than is on record -> what of it is another.
    """

    adds: list[Message] = []
    changes: list[RecordPatch] = []
    removed: list[str] = []
    noted: list[Message] = []
    reworded: dict[str, str] = {}
    problems: list[Problem] = []

    def line(self, **facts: object) -> TransactionLine | None:
        """Return the transaction that does it, None when there is nothing to do."""
        if not (self.adds or self.changes or self.removed or self.noted):
            return None
        ids = {
            "restored": ids_of(self.adds),
            "changed": [patch.message_id for patch in self.changes],
            "removed": self.removed,
        }
        return TransactionLine(
            actor=SYSTEM,
            action="heal",
            facts={**facts, **ids, **({REWORDED: self.reworded} if self.reworded else {})},
            writes=tuple(dict(message.record) for message in self.adds),
            changes=tuple(self.changes),
            removed=tuple(self.removed),
            noted=tuple(dict(message.record) for message in self.noted),
        )

    def change(self, here: Message, keys: FieldDict) -> RecordPatch:
        """Set keys of a message of the queue."""
        self.changes.append(RecordPatch(here.message_id, keys, here))
        return self.changes[-1]

    def tell(self, code: str, message: Message, what: str) -> None:
        """Say what another program did to a message, and what became of it."""
        text = f"message {message.message_id} {what}"
        self.problems.append(Problem(code, "warning", message.message_id, text, _HINT))


def reconcile(
    expected: MessagesById,
    current: QueueText,
    *,
    archived: Callable[[Message], bool],
    taken_out: Callable[[str], bool],
) -> Healing:
    """Return the changes that give `current` everything in `expected` and keep what others did.

    Args:
        expected: What the queue held by our own account.
        archived: Whether a message is safe in an archive, so that it may go unless others rely on it.
        taken_out: Whether we archived an id and took it out, so that it may not come back.
    """
    from team_console.store.protocol.request_chains import retained_ids  # with all that judges requests: 8 ms

    healing = Healing()
    found = by_id(current.messages())
    damaged = [entry.raw for entry in current.entries if entry.is_damaged]
    last = current.entries[-1].message if current.entries else None
    is_short = not expected.keys() <= found.keys()
    needed = retained_ids([*{**found, **expected}.values()], present=found.keys()) if is_short else frozenset[str]()
    for message_id, wanted in expected.items():
        here = found.get(message_id)
        if here is not None:
            _heal_message(wanted, here, last, healing)
        # guard: superseding-message-put-back
        elif archived(wanted) and not (wanted.status in DONE and message_id in needed):
            healing.removed.append(message_id)
        else:
            _restore(wanted, damaged, healing)
    for message in found.values():
        if message.message_id in expected:
            continue
        if archived(message) and taken_out(message.message_id):
            healing.removed.append(message.message_id)
            healing.tell("HEALED_RETURNED", message, "had left the queue for the archive; it was taken out again")
        else:
            healing.noted.append(message)
    return healing


def foreign_additions(theirs: QueueText, ours: QueueText, *, archived: Callable[[Message], bool]) -> Healing:
    """Return what a queue file written beside `ours` adds: unknown messages, and progress of known ones."""
    healing = Healing()
    found = by_id(ours.messages())
    for message in theirs.messages():
        here = found.get(message.message_id)
        if here is None and not archived(message):
            healing.adds.append(message)
            healing.tell("MERGED", message, "was added by another program; it was taken over")
        elif here is not None and here is not message and is_ahead(message, here):
            healing.change(here, _state_keys(message, here))
    return healing


def replay(lines: Iterable[TransactionLine]) -> tuple[MessagesById, set[str]]:
    """Return the content of the queue by the whole trail, and the ids that were taken out of it."""
    messages: dict[str, Message] = {}
    out: set[str] = set()
    waiting: TransactionLine | None = None
    for line in lines:
        if waiting is not None and line.void != waiting.seq:
            _apply_to_messages(messages, waiting, out)
        waiting = line
    if waiting is not None:
        _apply_to_messages(messages, waiting, out)
    return messages, out


def _apply_to_messages(messages: dict[str, Message], line: TransactionLine, out: set[str] | None = None) -> None:
    """Change the messages of a queue as the line says, and add the ids it took out to `out`."""
    noted = reversed([*messages_in_records(line.noted)])  # older lines note several of an id; the first has it now
    messages.update(by_id(noted))
    messages.update(by_id(messages_in_records(line.writes)))
    for patch in line.changes:
        message = messages.get(patch.message_id)
        if message is not None:
            with contextlib.suppress(ValueError):
                changed = patch.applied_to(message)
                if changed.message_id != message.message_id:
                    del messages[message.message_id]
                messages[changed.message_id] = changed
    for message_id in line.removed:
        messages.pop(message_id, None)
    if out is not None:
        out.update(line.removed)


def messages_in_records(records: Iterable[FieldDict]) -> Iterator[Message]:
    """Yield the messages in records of the trail; other records are left out."""
    for record in records:
        with contextlib.suppress(ValueError):
            yield from_record(record)


def _restore(wanted: Message, damaged: list[bytes], healing: Healing) -> None:
    """Add to `healing` a message that is not in the queue, or only in a damaged entry."""
    healing.adds.append(wanted)
    what = "was dropped by another program; it was put back"
    if any(wanted.message_id.encode("utf-8", "replace") in raw for raw in damaged):
        what = "was torn by another program; it was put back whole"
    healing.tell(HEALED_LOST, wanted, what)


def _heal_message(wanted: Message, here: Message, last: Message | None, healing: Healing) -> None:
    """Add to `healing` what makes a message of the queue as it is wanted; the `last` one may have been cut short."""
    if here is wanted or wanted.record == here.record:
        return
    if here is last and _is_beginning(here.record, wanted.record):
        healing.change(here, changed_keys(here.record, wanted.record))
        healing.tell(HEALED_CUT, here, "was cut short by another program; it is whole again")
        return
    from team_console.store.protocol.trail_facts import is_answer  # with all that judges requests: 8 ms

    # guard: answers-put-back
    if is_answer(wanted) and not is_same(here, wanted):
        _put_words_back(wanted, here, healing)
        return
    if not is_same(here, wanted):
        what = healing.reworded[here.message_id] = changed_parts(here, wanted)
        healing.tell(CHANGED, here, f"was changed by another program; another than on record: {what}")
    if not is_ahead(wanted, here) or is_other(here, wanted):
        healing.noted.append(here)
    else:
        healing.change(here, _state_keys(wanted, here))
        back = f"was put back from {wanted.status} to {here.status}"
        healing.tell(HEALED_STATE, here, f"{back} by another program; it is {wanted.status}")


def is_other(here: Message, recorded: Message) -> bool:
    """Return whether a message only has the id of the one on record: somebody else wrote it, in other words."""
    return here.sender != recorded.sender and here.payload != recorded.payload


def _put_words_back(wanted: Message, here: Message, healing: Healing) -> None:
    """Let an answer to a request say again what it said when it was recorded; its progress is kept."""
    names = {*here.record, *wanted.record}.difference(STATE_KEYS)
    keys = {name: wanted.record.get(name) for name in names if here.record.get(name) != wanted.record.get(name)}
    if is_ahead(wanted, here):
        keys.update(_state_keys(wanted, here))
    healing.noted.append(healing.change(here, keys).applied_to(here))
    what = "answers a request and was changed by another program; it says again what is on record"
    healing.tell(HEALED_ANSWER, here, what)


def _state_keys(wanted: Message, here: Message) -> FieldDict:
    """Return the keys to set so that `here` is as far on its way as both together tell."""
    keys = {key: wanted.record.get(key) for key in STATE_KEYS}
    if wanted.read_by or here.read_by:
        keys["read_by"] = {**here.read_by, **wanted.read_by}
    if progress_of(here.status) > progress_of(wanted.status):
        keys["status"] = here.status
    return {key: value for key, value in keys.items() if here.record.get(key) != value}


# What the queue held by our own account: from memory, from the generation before, or from the whole trail.


class ExpectedQueue(Struct, dict=True):
    """What the queue holds by our own account, up to the last line of the trail.

    Attributes:
        agreed_queue: The queue when everything last agreed, as far as this process has seen it.
        line: The last line of the trail.
        trusted: The generation that the last holder of the lock left, whoever wrote it.
        is_before_line: Whether the last line never reached the queue, so that the account ends before it.
    """

    disk: Disk
    layout: Layout
    agreed_queue: QueueFile
    line: TransactionLine
    trusted: FileVersion | None
    is_before_line: bool

    def expected(self) -> MessagesById:
        """Return the messages by id, from the nearest source that is still whole."""
        if not self.is_before_line:
            if self.agreed_queue.mark is not None and self.agreed_queue.mark in (self.line.queue, self.trusted):
                return by_id(self.agreed_queue.text.messages())
            previous = self._generation_before(self.line)
            if previous is not None:
                messages = by_id(previous.messages())
                _apply_to_messages(messages, self.line)
                return messages
        return self._replayed[0]

    def was_taken_out(self, message_id: str) -> bool:
        """Return whether a transaction of ours took it out of the queue."""
        return message_id in self._replayed[1]

    @cached_property
    def _replayed(self) -> tuple[MessagesById, set[str]]:
        lines = list(AuditTrail(self.disk, self.layout.audit).lines())
        return replay(lines[:-1] if self.is_before_line and lines and lines[-1].seq == self.line.seq else lines)

    def _generation_before(self, line: TransactionLine) -> QueueText | None:
        """Return the text that the last line was applied to, when it is still there as it was."""
        found = self.disk.stat(self.layout.prev)
        if found is None or found.mark != line.base or line.base == line.queue:
            return None
        with contextlib.suppress(TextError, OSError):
            return QueueText.parse(self.disk.read(self.layout.prev)[0], self.agreed_queue.text).with_unique_ids()
        return None
