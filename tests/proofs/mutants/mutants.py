"""The mutants: what each switches off by patching a function, and the tests that must fail then."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

Patch = Callable[[pytest.MonkeyPatch], None]
_CRASH = "tests/proofs/crash/test_crash_states.py"
_POWER = f"{_CRASH}::test_a_power_cut_leaves_the_state_before_or_after_and_all_that_was_acknowledged[receive]"
_ERRORS = f"{_CRASH}::test_a_disk_error_at_any_step_is_reported_and_changes_nothing"
_RECOVERY = "tests/proofs/crash/test_recovery.py"
_STORE = "tests/store/test_yaml"
_BULK = "tests/store/test_bulk_work.py::test_the_work_grows_with_the_number_of_messages"
_CONTRACT = "tests/store/test_team_contract.py"


@dataclass(frozen=True, slots=True)
class Mutant:
    """One protection, how to switch it off, and the node ids of tests that rely on it."""

    name: str
    patch: Patch
    tests: tuple[str, ...]


def _nothing(*_: Any, **__: Any) -> None:
    return None


def _file_fsync(patch: pytest.MonkeyPatch) -> None:
    from tests.proofs.crash.simdisk import SimDisk

    patch.setattr(SimDisk, "sync", _nothing)


def _folder_fsync(patch: pytest.MonkeyPatch) -> None:
    from tests.proofs.crash.simdisk import SimDisk

    patch.setattr(SimDisk, "sync_folder", _nothing)


def _id_check(patch: pytest.MonkeyPatch) -> None:
    from team_console.store.contract.transaction import Transaction

    patch.setattr(Transaction, "known", _nothing)


def _archive_id_check(patch: pytest.MonkeyPatch) -> None:
    from team_console.store.backends.yaml.session import YamlTransaction

    patch.setattr(YamlTransaction, "archived_for", lambda *_: False)


def _read_again_after_lock(patch: pytest.MonkeyPatch) -> None:
    from team_console.store.backends.yaml import session
    from team_console.store.backends.yaml.recovery import recover

    def trusting(team: Any, before: Any, **options: Any) -> Any:
        if before.known.stat is None or before.tip.line is not None:
            return recover(team, before, **options)
        return before.found(team.ledger.tip(), before.known), None

    patch.setattr(session, "recover", trusting)


def _lock(patch: pytest.MonkeyPatch) -> None:
    import os

    from team_console.store.backends.yaml.disk import Disk

    class Nobody:
        def __init__(self, path: Any) -> None:
            path.touch()
            self.ino = os.stat(path).st_ino

        write = release = _nothing

    patch.setattr(Disk, "lock", lambda self, path, wait, mode: Nobody(path))


def _lock_inode(patch: pytest.MonkeyPatch) -> None:
    from team_console.store.backends.yaml.commit import Write
    from team_console.store.backends.yaml.disk import Disk

    stat = Disk.stat
    check = Write._check_unchanged

    def blind(self: Write) -> None:
        with pytest.MonkeyPatch.context() as inner:
            inner.setattr(
                Disk,
                "stat",
                lambda disk, path: (
                    _with_inode(stat(disk, self._layout.folder), self._team.lock.ino)
                    if path == self._layout.lock
                    else stat(disk, path)
                ),
            )
            check(self)

    patch.setattr(Write, "_check_unchanged", blind)


def _with_inode(found: Any, ino: int) -> Any:
    from msgspec.structs import replace

    return replace(found, ino=ino) if found is not None else None


def _queue_check(patch: pytest.MonkeyPatch) -> None:
    from team_console.store.backends.yaml.commit import Write

    patch.setattr(Write, "_check_unchanged", _nothing)


def _displaced_check(patch: pytest.MonkeyPatch) -> None:
    from team_console.store.backends.yaml import recovery

    patch.setattr(recovery, "_has_displaced", lambda found: False)


def _late_writer_check(patch: pytest.MonkeyPatch) -> None:
    from team_console.store.backends.yaml import recovery

    patch.setattr(recovery, "_was_written_late", lambda found: False)


def _healing(patch: pytest.MonkeyPatch) -> None:
    from team_console.store.backends.yaml import recovery

    patch.setattr(recovery, "_healing", _nothing)


def _telling_of_a_loss(patch: pytest.MonkeyPatch) -> None:
    from team_console.store.backends.yaml.snapshot import SnapshotReader

    patch.setattr(SnapshotReader, "_loss", _nothing)


def _forgetting_the_lost(patch: pytest.MonkeyPatch) -> None:
    from team_console.store.views.projection import Projection

    leave = Projection._leave
    patch.setattr(Projection, "_leave", lambda self, messages, missing: leave(self, messages, frozenset()))


def _order_of_the_trail(patch: pytest.MonkeyPatch) -> None:
    from team_console.store.model.recorded import RecordedFacts

    patch.setattr(RecordedFacts, "order_of", lambda self, message_id, order: (order[0], 1, 0, order[1]))
    patch.setattr(RecordedFacts, "is_by_desk", lambda self, message_id: True)


def _words_of_the_trail(patch: pytest.MonkeyPatch) -> None:
    from team_console.store.model.recorded import RecordedFacts

    patch.setattr(RecordedFacts, "differs", lambda self, message: False)


def _putting_words_back(patch: pytest.MonkeyPatch) -> None:
    from team_console.store.backends.yaml import healing

    patch.setattr(healing, "is_answer", lambda message: False)


def _keeping_successors(patch: pytest.MonkeyPatch) -> None:
    from team_console.store.protocol import judgement

    patch.setattr(judgement, "_succession", lambda cases, *final: [judgement.Link() for _ in cases])


def _bounded_leases(patch: pytest.MonkeyPatch) -> None:
    from team_console.store.model import schedule

    patch.setattr(schedule, "MAX_LEASE", timedelta(days=100_000))


def _undo(patch: pytest.MonkeyPatch) -> None:
    from team_console.store.backends.yaml import recovery

    patch.setattr(recovery, "UNDOABLE", frozenset())


def _completion(patch: pytest.MonkeyPatch) -> None:
    from team_console.store.backends.yaml import recovery

    patch.setattr(recovery, "is_cut_short", lambda *_: False)


def _archive_cut(patch: pytest.MonkeyPatch) -> None:
    from team_console.store.backends.yaml import recovery

    patch.setattr(recovery, "_cut_archives", _nothing)


def _take_back(patch: pytest.MonkeyPatch) -> None:
    from team_console.store.backends.yaml.commit import Write

    patch.setattr(Write, "_take_back", _nothing)


def _checksum(patch: pytest.MonkeyPatch) -> None:
    from team_console.store.backends.yaml import archives

    patch.setattr(archives, "_crc_holds", lambda *_: True)


def _torn_line(patch: pytest.MonkeyPatch) -> None:
    from team_console.store.backends.yaml import recovery

    patch.setattr(recovery, "_set_aside_torn_line", lambda team, tip: tip)


def _chain(patch: pytest.MonkeyPatch) -> None:
    from msgspec.structs import replace
    from team_console.store.backends.yaml.audit_log import FileReader

    line = FileReader._line
    patch.setattr(FileReader, "_line", lambda self, row: replace(line(self, row), follows=True))


def _stale_staging(patch: pytest.MonkeyPatch) -> None:
    from team_console.store.backends.yaml import recovery

    patch.setattr(recovery, "_strays", lambda store: [])


def _no_follow(patch: pytest.MonkeyPatch) -> None:
    import os

    from team_console.store.backends.yaml import disk

    patch.setattr(disk, "_SAFE", os.O_CLOEXEC)
    patch.setattr(os, "O_NOFOLLOW", 0)


def _hard_link(patch: pytest.MonkeyPatch) -> None:
    from team_console.store.backends.yaml import recovery

    patch.setattr(recovery, "_with_one_name", lambda team, queue: queue)


def _patience(patch: pytest.MonkeyPatch) -> None:
    from team_console.store.backends.yaml import queue_file, snapshot

    load = queue_file.load
    patch.setattr(snapshot, "load", lambda disk, path, known: load(disk, path, known, patience=0.0))


def _mode(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("os.fchmod", _nothing)


def _name_check(patch: pytest.MonkeyPatch) -> None:
    from team_console.store.model import names

    patch.setattr(names, "check_name", lambda text, field="": text)


def _archive_before_removal(patch: pytest.MonkeyPatch) -> None:
    from team_console.store.backends.yaml.session import YamlTransaction

    patch.setattr(YamlTransaction, "is_archived", lambda *_: True)


def _id_index(patch: pytest.MonkeyPatch) -> None:
    from team_console.store.backends.yaml.codec import queue_text

    for few in ("_FEW_JOINED", "_FEW_UNJOINED"):
        patch.setattr(queue_text, few, 10**9)


def _one_search_of_archives(patch: pytest.MonkeyPatch) -> None:
    from team_console.store.backends.yaml.archives import Archives

    patch.setattr(Archives, "expect", _nothing)


def _copies_count_once(patch: pytest.MonkeyPatch) -> None:
    from team_console.store.backends.yaml.codec import queue_text
    from team_console.store.model import message as copies

    patch.setattr(copies, "is_copy", lambda message, other: message is other)
    patch.setattr(queue_text, "distinct", lambda messages: messages)


def _ways_out(patch: pytest.MonkeyPatch) -> None:
    from team_console.store.backends.yaml import drop, layout

    for module in (drop, layout):
        patch.setattr(module, "leads_out", lambda *_: False)


def _stat_poll(patch: pytest.MonkeyPatch) -> None:
    from team_console.store.backends.yaml import watch

    patch.setattr(watch, "POLL_SECONDS", 3600.0)


def _first_answer(patch: pytest.MonkeyPatch) -> None:
    from team_console.store.service import questions

    patch.setattr(questions, "refuse_decided", _nothing)


def _control_characters(patch: pytest.MonkeyPatch) -> None:
    from team_console.store.model import safe

    patch.setattr(safe, "_visible", lambda match: match.group())


_FIRST_ANSWER = "tests/desk/test_requests.py::test_the_first_answer_stands_and_the_second_is_told_who_and_when"
_FOREIGN = f"{_STORE}_foreign.py"
_INDEX = "tests/views/test_request_index.py"
_ENDED = "tests/desk/test_ended_requests.py"
_LOCK = f"{_STORE}_lock.py"

_ALL = (
    Mutant("file fsync", _file_fsync, (_POWER,)),
    Mutant("folder fsync", _folder_fsync, (_POWER,)),
    Mutant("id check on adding", _id_check, (f"{_CONTRACT}::test_an_archived_id_stays_taken[yaml]",)),
    Mutant(
        "id check on archiving",
        _archive_id_check,
        (f"{_STORE}_archive.py::test_the_same_message_is_archived_once_for_each_agent",),
    ),
    Mutant(
        "reading again after the lock",
        _read_again_after_lock,
        (f"{_LOCK}::test_what_one_opening_has_received_no_other_receives_again",),
    ),
    Mutant("lock", _lock, (f"{_CONTRACT}::test_only_one_transaction_runs_at_a_time_and_waiting_is_bounded[yaml]",)),
    Mutant("lock inode check", _lock_inode, (f"{_LOCK}::test_a_lock_file_deleted_while_held_stops_the_commit",)),
    Mutant(
        "queue check before the swap",
        _queue_check,
        (f"{_STORE}_files.py::test_a_folder_moved_away_during_a_transaction_stops_the_commit",),
    ),
    Mutant(
        "look at what was displaced",
        _displaced_check,
        (f"{_FOREIGN}::test_a_write_that_slips_in_during_ours_is_merged",),
    ),
    Mutant(
        "look for late writers",
        _late_writer_check,
        (f"{_FOREIGN}::test_a_writer_that_had_the_old_queue_open_is_merged_at_the_next_turn",),
    ),
    Mutant(
        "healing",
        _healing,
        (f"{_FOREIGN}::test_a_rolled_back_status_is_healed_and_the_message_not_delivered_again",),
    ),
    Mutant(
        "telling of a loss",
        _telling_of_a_loss,
        (f"{_STORE}_losses.py::test_a_queue_emptied_by_another_program_is_in_doubt",),
    ),
    Mutant(
        "forgetting what was lost",
        _forgetting_the_lost,
        (
            "tests/views/test_projection.py::"
            "test_a_plan_that_a_foreign_writer_took_out_is_not_open_until_it_is_put_back",
        ),
    ),
    Mutant(
        "the order of the audit trail",
        _order_of_the_trail,
        (f"{_INDEX}::test_a_forged_answer_with_an_earlier_date_comes_after_the_recorded_one",),
    ),
    Mutant(
        "the words of the audit trail",
        _words_of_the_trail,
        (f"{_INDEX}::test_an_edited_answer_is_told_as_an_error_with_its_place",),
    ),
    Mutant(
        "putting words back",
        _putting_words_back,
        (f"{_STORE}_recorded.py::test_a_flipped_answer_is_put_back_and_told",),
    ),
    Mutant(
        "keeping what superseded a request",
        _keeping_successors,
        (f"{_ENDED}::test_a_superseded_plan_that_is_too_young_to_leave_keeps_its_successor",),
    ),
    Mutant("bounded leases", _bounded_leases, (f"{_ENDED}::test_a_lease_of_a_clock_that_was_ahead_is_over",)),
    Mutant("undoing a dead receiver", _undo, (f"{_RECOVERY}::test_undoing_is_on_record_and_told",)),
    Mutant("finishing what is on record", _completion, (f"{_RECOVERY}::test_an_answer_on_record_is_finished_whole",)),
    Mutant("cutting archives in recovery", _archive_cut, (f"{_RECOVERY}::test_undoing_is_on_record_and_told",)),
    Mutant("taking back after an error", _take_back, (_ERRORS,)),
    Mutant(
        "checksum of archive entries",
        _checksum,
        (f"{_STORE}_archive.py::test_a_changed_byte_in_the_middle_is_told_and_later_records_are_read",),
    ),
    Mutant("torn ledger line", _torn_line, (f"{_STORE}_audit.py::test_a_torn_last_line_is_moved_aside_and_told",)),
    Mutant("hash chain", _chain, (f"{_STORE}_audit.py::test_a_ledger_that_was_tampered_with_says_from_where",)),
    Mutant(
        "removal of stale staging files",
        _stale_staging,
        (f"{_STORE}_files.py::test_staging_files_of_dead_processes_are_removed_and_never_read",),
    ),
    Mutant(
        "not following links",
        _no_follow,
        (f"{_STORE}_files.py::test_a_planted_link_at_a_file_of_ours_is_never_followed",),
    ),
    Mutant(
        "refusing hard links",
        _hard_link,
        (f"{_STORE}_files.py::test_a_hard_linked_queue_is_refused_with_the_reason_and_nothing_changes",),
    ),
    Mutant(
        "patience with half files",
        _patience,
        (f"{_STORE}_files.py::test_a_reader_waits_out_a_writer_that_rewrites_in_place",),
    ),
    Mutant("keeping the mode", _mode, (f"{_STORE}_files.py::test_the_queue_keeps_its_mode",)),
    Mutant("name check", _name_check, (f"{_STORE}_files.py::test_a_name_never_leaves_its_folder",)),
    Mutant(
        "archive before removal",
        _archive_before_removal,
        (f"{_STORE}_archive.py::test_a_message_leaves_the_queue_only_when_an_archive_holds_it",),
    ),
    Mutant("index of many ids", _id_index, (f"{_BULK}[_deliver]",)),
    Mutant("one search of archives for many ids", _one_search_of_archives, (f"{_BULK}[_deliver_and_clear]",)),
    Mutant(
        "copies count once",
        _copies_count_once,
        ("tests/store/test_shared_ids.py::test_copies_count_once_and_leave_with_the_first_change[yaml]",),
    ),
    Mutant(
        "links that lead out of the team",
        _ways_out,
        ("tests/store/test_hostile_files.py::test_a_drop_folder_elsewhere_is_left_alone",),
    ),
    Mutant("looking beside events", _stat_poll, (f"{_STORE}_watch.py::test_lost_events_are_made_up_for_by_looking",)),
    Mutant("first answer wins", _first_answer, (_FIRST_ANSWER,)),
    Mutant("control-character filter", _control_characters, ("tests/proofs/mutants/test_protections.py",)),
)

MUTANTS: Mapping[str, Mutant] = {item.name: item for item in _ALL}
