"""Protections of clients' hooks: silence is never a no, no request outlives its asker, no mail comes twice."""

from __future__ import annotations

from tests.mutants.line import Line

_WAITING, _MAIL, _ROSTER = (f"tests/hook/test_{name}.py" for name in ("waiting", "mail", "roster"))

HOOK_LINES = (
    Line(
        "no exit status but 0 from a hook",
        "console/clients/quick/start.py",
        "            traceback.print_exception(error)\n        return 0",
        "            traceback.print_exception(error)\n        return 2",
        (f"{_WAITING}::test_a_harmed_team_says_nothing",),
    ),
    Line(
        "options of a later version",
        "console/__main__.py",
        "if is_hook(sys.argv[1:]):",
        "if False:",
        (f"{_WAITING}::test_no_input_and_no_option_makes_a_no",),
    ),
    Line(
        "letting go with the last console",
        "console/clients/hook/waiting.py",
        "return self._absent >= _ABSENT_LOOKS",
        "return False",
        (f"{_WAITING}::test_the_last_console_that_closes_lets_go",),
    ),
    Line(
        "letting go with a client that was killed",
        "console/clients/hook/waiting.py",
        "        os.kill(os.getpid(), signal.SIGTERM)",
        "        pass",
        (f"{_WAITING}::test_the_client_is_killed",),
    ),
    Line(
        "a lock that ends with its process",
        "store/backends/locked_files.py",
        "    except BlockingIOError:\n        return True\n    except OSError:\n        return None\n    finally:\n"
        "        os.close(found)\n    return False",
        "    except BlockingIOError:\n        return True\n    except OSError:\n        return None\n    finally:\n"
        "        os.close(found)\n    return True",
        ("tests/store/test_presence.py::test_presence_ends_with_its_process_however_that_ends",),
    ),
    Line(
        "requests of killed hooks",
        "store/desk/sessions/gone.py",
        "return {key: questions[key] for key, asker in named.items() if attendance.is_gone(asker)}",
        "return {}",
        (
            f"{_WAITING}::test_a_killed_hook_is_found_out_by_any_other_session",
            f"{_WAITING}::test_nobody_approves_what_nobody_would_carry_out",
        ),
    ),
    Line(
        "requests that no file tells of",
        "console/clients/hook/ending.py",
        "asked = known.get(request_id) or asked_in(dict(question.payload), _thread_of(session, question))",
        "asked = known.get(request_id) or {'thread': 'x'}",
        (f"{_WAITING}::test_a_lost_file_loses_no_request",),
    ),
    Line(
        "mail once to each member",
        "store/desk/sessions/mail.py",
        "fresh = [message for message in taken if caller.actor not in message.handed_to]",
        "fresh = list(taken)",
        (f"{_MAIL}::test_mail_that_no_event_proved_read_is_named_to_the_next_session",),
    ),
    Line(
        "read only what was said",
        "console/clients/hook/mail.py",
        'known.get("said") is not True:\n        return\n    _acknowledge',
        "False:\n        return\n    _acknowledge",
        (f"{_MAIL}::test_what_a_killed_hook_took_and_never_said_comes_again",),
    ),
    Line(
        "no mail for a client that is gone",
        "console/clients/hook/waking.py",
        "session.files.read(TURN) == turn and is_read(ERR)",
        "session.files.read(TURN) == turn",
        (f"{_MAIL}::test_no_mail_is_taken_after_the_client_is_gone",),
    ),
    Line(
        "a teammate is no member",
        "console/clients/hook/session.py",
        "taken = {*self.config.agents, self.config.lead, USER, ALL}",
        "taken = {USER, ALL}",
        (f"{_ROSTER}::test_a_teammate_never_acts_as_a_member",),
    ),
    Line(
        "only members bring teammates along",
        "store/protocol/relations/membership.py",
        "    if config.declared and note.member not in configured and note.member not in found.roles:\n"
        "        return\n",
        "",
        (f"{_ROSTER}::test_nobody_but_a_member_brings_anybody_along",),
    ),
    Line(
        "notes that still count",
        "store/protocol/relations/reliance.py",
        "    yield from lasting_notes(messages)\n",
        "",
        (f"{_ROSTER}::test_notes_wait_in_no_inbox_and_stay_as_long_as_they_count",),
    ),
    Line(
        "links of a client's settings",
        "console/clients/joining/file_change.py",
        "if not real.is_relative_to(base):",
        "if False:",
        ("tests/hook/test_joining.py::test_modes_are_kept_and_links_lead_nowhere_else",),
    ),
)
