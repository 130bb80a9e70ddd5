"""Protections that only a whole process shows: source lines that switch them off, and the tests that must fail then."""

from __future__ import annotations

from tests.proofs.mutants.databases import DATABASE_LINES
from tests.proofs.mutants.hooks import HOOK_LINES
from tests.proofs.mutants.line import Line
from tests.proofs.mutants.outages import OUTAGE_LINES
from tests.proofs.mutants.quick_paths import QUICK_LINES
from tests.proofs.mutants.verdicts import VERDICT_LINES

DESK = "tests/desk/test_requests.py"
TRUST = "tests/trust"
CLIENTS = "tests/desk/test_client_requests.py"


LINES = (
    Line(
        "control-character filter, in what verbs print",
        "store/model/safe.py",
        'shown = UNSAFE.sub(_visible, plain.replace("\\r\\n", "\\n"))',
        "shown = plain",
        (f"{TRUST}/test_hostile_verbs.py::test_what_a_verb_prints_for_people_is_only_text",),
    ),
    Line(
        "control-character filter, on the screen",
        "store/model/safe.py",
        'shown = UNSAFE.sub(_visible, plain.replace("\\r\\n", "\\n"))',
        "shown = plain",
        (f"{TRUST}/test_hostile_console.py",),
    ),
    Line(
        "escapes in JSON",
        "console/cli/output.py",
        "seen = UNSAFE.sub(lambda match: json.dumps(match.group())[1:-1], text)",
        "seen = text",
        (f"{TRUST}/test_hostile_verbs.py::test_json_on_a_terminal_is_safe_and_loses_nothing",),
    ),
    Line(
        "what superseded another is put back",
        "store/backends/yaml/healing.py",
        "elif archived(message) and message not in needed:",
        "elif archived(message):",
        ("tests/trust/test_history_decides.py::test_a_plan_stays_superseded_when_another_program_drops_the_later_one",),
    ),
    Line(
        "fingerprint of what was seen",
        "store/service/questions.py",
        "if seen is not None:",
        "if False:",
        (DESK,),
    ),
    Line(
        "the question a verdict rests on, against writers without the lock",
        "store/backends/yaml/session.py",
        "            _refuse_changed(self.generation.text, rests_on)\n",
        "",
        ("tests/store/test_expected.py",),
    ),
    Line(
        "what its asker took back is not answered",
        "store/service/questions.py",
        "    _refuse_over(tx, case)\n",
        "",
        (f"{CLIENTS}::test_what_the_asker_withdraws_waits_nowhere_and_is_never_approved",),
    ),
    Line(
        "other words are not hidden behind the id of a broadcast",
        "store/views/conversation.py",
        "(message.priority, repr(message.payload))",
        '(message.priority, "")',
        ("tests/views/test_broadcasts.py::test_whatever_differs_is_not_hidden_behind_a_broadcast",),
    ),
    Line(
        "what expired is open no more",
        "store/protocol/judgement.py",
        "if case.expires_at is not None and now >= case.expires_at:",
        "if False:",
        (f"{CLIENTS}::test_a_request_that_expired_is_withdrawn_by_the_clock_alone",),
    ),
    Line(
        "a verdict counts only in time",
        "store/protocol/judgement.py",
        "in_time = valid if end is None else [claim for claim in valid if claim.when[0] < end]",
        "in_time = valid",
        ("tests/views/test_client_requests.py::test_a_verdict_after_the_end_decides_nothing_and_one_in_time_does",),
    ),
    Line(
        "a withdrawal that left the queue counts",
        "store/protocol/judgement.py",
        "for entry in filter(_is_withdrawal, (*others, *absent)):",
        "for entry in filter(_is_withdrawal, others):",
        (
            "tests/views/test_client_requests.py"
            "::test_a_withdrawal_that_left_the_queue_between_two_looks_still_ends_the_request",
        ),
    ),
    Line(
        "only an answer of its own kind allows a tool",
        "store/protocol/answering.py",
        "return seen.answers is kind and _decides(seen)",
        "return seen.approve is not None",
        ("tests/views/test_client_requests.py::test_a_message_of_another_kind_never_allows_anything",),
    ),
    Line(
        "carriage returns in a command are seen",
        "widgets/details.py",
        "Text(_exact(proposal.text), Form.CODE)",
        "Text(proposal.text, Form.CODE)",
        ("tests/console/test_client_requests.py::test_no_field_of_a_request_steers_the_screen",),
    ),
    Line(
        "names stay in their folder",
        "store/model/names.py",
        'if not isinstance(text, str) or ".." in text:\n        return False',
        "return isinstance(text, str)",
        (f"{TRUST}/test_names_stay_home.py",),
    ),
    Line(
        "damaged entries are told",
        "store/views/truth.py",
        "    if number:",
        "    if number < 0:",
        (f"{TRUST}/test_honest_verbs.py::test_damaged_entries_are_told_by_every_face_wherever_the_damage_is",),
    ),
    Line(
        "lost settings give nobody authority",
        "store/protocol/permissions.py",
        "    if config.lost:",
        "    if not config:",
        ("tests/sql/test_settings_lost.py::test_nothing_that_needs_authority_is_written_until_they_are_healed",),
    ),
    Line(
        "passwords in a location are covered",
        "store/backends/locations.py",
        'if match["name"].lower() in SHOWN else',
        'if match["name"] else',
        ("tests/sql/test_passwords.py::test_no_verb_shows_a_password",),
    ),
    Line(
        "unreadable is not empty",
        "store/contract/team.py",
        "return self.condition in (Condition.OK, Condition.EMPTY)",
        "return True",
        (f"{TRUST}/test_honest_verbs.py::test_a_harmed_queue_is_never_shown_as_empty",),
    ),
    Line(
        "words kept when a signal comes",
        "console/leaving.py",
        "        keep_drafts(app)\n    app.exit",
        "        pass\n    app.exit",
        (f"{TRUST}/test_leaving.py::test_a_signal_ends_it_in_order",),
    ),
    Line(
        "words kept through a crash",
        "console/app.py",
        "            keep_drafts(self)\n",
        "            pass\n",
        (f"{TRUST}/test_leaving.py::test_words_are_kept_at_once_when_something_fails",),
    ),
    Line(
        "gone with its terminal",
        "console/leaving.py",
        "        self.hurry(128 + signal.SIGHUP)\n",
        "        pass\n",
        (f"{TRUST}/test_leaving.py::test_a_console_that_hangs_ends_when_its_terminal_is_gone",),
    ),
    Line(
        "terminal restored by a signal",
        "console/leaving.py",
        "loop.add_signal_handler(number, partial(_hurry_out, app, end, number))",
        "pass",
        (f"{TRUST}/test_leaving.py::test_a_signal_ends_it_in_order",),
    ),
    Line(
        "commands only out of trusted settings",
        "store/service/router.py",
        "if config.distrust:",
        "if False:",
        ("tests/settings/test_trust.py::test_settings_that_everybody_can_write_run_no_command",),
    ),
    Line(
        "no key that others can read",
        "store/settings/settings_file.py",
        "if status.st_mode & 0o007 or",
        "if False and status.st_mode & 0o007 or False and",
        ("tests/settings/test_trust.py::test_a_key_that_others_can_use_is_an_error_and_signs_nothing",),
    ),
    Line(
        "places only inside the project",
        "store/settings/settings_file.py",
        "if not inside or",
        "if False and not inside or False and",
        ("tests/settings/test_office_settings.py::test_a_place_out_of_the_project_is_a_finding_and_not_used",),
    ),
    Line(
        "settings put back when the commit fails",
        "store/backends/yaml/commit.py",
        "            if before is not None:\n                _write(team, before)",
        "            if before is not None:\n                pass",
        ("tests/settings/test_members.py::test_a_failed_commit_puts_the_settings_back",),
    ),
    Line(
        "changed settings on record with the change",
        "store/backends/yaml/session.py",
        "in_force = changes.settings.encode()",
        "pass",
        ("tests/settings/test_lost_members.py::test_removed_members_are_no_lost_settings",),
    ),
    Line(
        "members changed under settings in force",
        "store/service/members.py",
        'check_settings(config, "change the members")',
        "pass",
        ("tests/settings/test_lost_members.py::test_nobody_changes_members_while_the_settings_are_lost",),
    ),
    Line(
        "commands out of a trusted ledger",
        "store/backends/yaml/settings.py",
        "with_trust(parse(before, self._layout.config), self._layout.audit)",
        "parse(before, self._layout.config)",
        ("tests/settings/test_lost_members.py::test_commands_out_of_a_ledger_that_others_can_write_are_not_run",),
    ),
    Line(
        "nobody is said to have died who gave the lock back while it was looked at",
        "store/backends/yaml/snapshot.py",
        "if holder is None and parse_released(lock_text) is None:",
        "if False:",
        ("tests/store/test_yaml_lock.py::test_who_gives_the_lock_back_while_it_is_looked_at_is_not_said_to_have_died",),
    ),
    Line(
        "nobody is said to have died who took the lock while it was looked at",
        "store/backends/yaml/lock.py",
        "if told is not None and told.alive and _is_fresh(told):",
        "if False:",
        (
            "tests/store/test_yaml_lock.py"
            "::test_who_takes_over_from_one_that_died_while_it_is_looked_at_is_not_said_to_have_died",
        ),
    ),
    *HOOK_LINES,
    *QUICK_LINES,
    *DATABASE_LINES,
    *OUTAGE_LINES,
    *VERDICT_LINES,
)
