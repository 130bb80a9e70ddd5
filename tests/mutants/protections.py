"""Which protections there are, how each is switched off, and the test that has to fail without it."""

from __future__ import annotations

from dataclasses import dataclass

YAML = "store/backends/yamlteam"
POWER_CUT = (
    "tests/crash/test_crash_states.py::test_a_power_cut_leaves_the_state_before_or_after_and_all_that_was_acknowledged"
)
DESK = "tests/desk/test_requests.py"
TRUST = "tests/trust"


@dataclass(frozen=True, slots=True)
class Mutant:
    """One protection switched off: in `file`, `old` (which stands there once) becomes `new`; `tests` must fail."""

    protection: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


MUTANTS = (
    Mutant(
        "file fsync",
        f"{YAML}/files.py",
        "            _write(disk, fd, data)\n            disk.sync(fd)\n            written",
        "            _write(disk, fd, data)\n            written",
        (POWER_CUT,),
    ),
    Mutant(
        "directory fsync",
        f"{YAML}/commit.py",
        "            self.disk.sync_folder(self.layout.folder)\n",
        "            pass\n",
        (POWER_CUT,),
    ),
    Mutant(
        "id check",
        "store/backends/buffered.py",
        "if self.known(message.message_id) is not None:",
        "if False:",
        ("tests/store/test_team_contract.py",),
    ),
    Mutant(
        "re-read after lock",
        f"{YAML}/generation.py",
        "if known is not None and known.mark == found.mark:",
        "if known is not None and known.stat is not None:",
        ("tests/store/test_yamlteam_foreign.py", "tests/store/test_yamlteam_lock.py"),
    ),
    Mutant(
        "lock-inode check",
        f"{YAML}/commit.py",
        "if lock is None or lock.ino != self.held.ino:",
        "if False:",
        ("tests/store/test_yamlteam_lock.py::test_a_lock_file_deleted_while_held_stops_the_commit",),
    ),
    Mutant(
        "what a swap displaced is merged",
        f"{YAML}/commit.py",
        "self.intruded = found.mark != old.mark",
        "self.intruded = False",
        ("tests/store/test_yamlteam_foreign.py",),
    ),
    Mutant(
        "control-character filter",
        "store/safe.py",
        'shown = UNSAFE.sub(_visible, plain.replace("\\r\\n", "\\n"))',
        "shown = plain",
        (f"{TRUST}/test_hostile_verbs.py::test_what_a_verb_prints_for_people_is_only_text",),
    ),
    Mutant(
        "control-character filter, on the screen",
        "store/safe.py",
        'shown = UNSAFE.sub(_visible, plain.replace("\\r\\n", "\\n"))',
        "shown = plain",
        (f"{TRUST}/test_hostile_console.py",),
    ),
    Mutant(
        "escapes in JSON",
        "console/cli/output.py",
        "seen = UNSAFE.sub(lambda match: json.dumps(match.group())[1:-1], text)",
        "seen = text",
        (f"{TRUST}/test_hostile_verbs.py::test_json_on_a_terminal_is_safe_and_loses_nothing",),
    ),
    Mutant(
        "first answer wins",
        "store/desk/requests.py",
        "    _refuse_answered(tx, request_id, question, kind, thread)\n",
        "",
        (DESK,),
    ),
    Mutant(
        "fingerprint of what was seen",
        "store/desk/requests.py",
        "if seen is not None and seen != fingerprint(question):",
        "if False:",
        (DESK,),
    ),
    Mutant(
        "names stay in their folder",
        "store/names.py",
        'return isinstance(text, str) and _NAME.fullmatch(text) is not None and ".." not in text',
        "return isinstance(text, str)",
        (f"{TRUST}/test_names_stay_home.py",),
    ),
    Mutant(
        "unreadable is not empty",
        "store/team.py",
        "return self.condition in (Condition.OK, Condition.EMPTY)",
        "return True",
        (f"{TRUST}/test_honest_verbs.py::test_a_harmed_queue_is_never_shown_as_empty",),
    ),
    Mutant(
        "words kept when a signal comes",
        "console/leaving.py",
        "    keep_drafts(app)\n    app.exit",
        "    app.exit",
        (f"{TRUST}/test_leaving.py::test_a_signal_ends_it_in_order",),
    ),
    Mutant(
        "words kept through a crash",
        "console/app.py",
        "            keep_drafts(self)\n",
        "            pass\n",
        (f"{TRUST}/test_leaving.py::test_a_crash_inside_restores_the_terminal_and_keeps_the_words",),
    ),
    Mutant(
        "terminal restored by a signal",
        "console/leaving.py",
        "loop.add_signal_handler(number, partial(_leave, app, number))",
        "pass",
        (f"{TRUST}/test_leaving.py::test_a_signal_ends_it_in_order",),
    ),
)
