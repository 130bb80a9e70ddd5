"""Protections of clients: silence is never a no, no request outlives its asker, no mail comes twice, no tool rules."""

from __future__ import annotations

from tests.mutants.line import Line

_WAITING, _MAIL, _ROSTER = (f"tests/hook/test_{name}.py" for name in ("waiting", "mail", "roster"))
_UNCLEAR = "tests/hook/test_clients_language.py::test_what_is_no_clear_yes_or_no_decides_nothing"
_SQL = "tests/sql/test_hooks.py"
_TOOLS, _DIALOGS = "tests/mcp/test_tools.py", "tests/mcp/test_dialogs.py"

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
        (f"{_MAIL}::test_mail_of_an_earlier_session_is_not_said_again_beside_what_is_new",),
    ),
    Line(
        "read only what was said",
        "console/clients/hook/mail.py",
        'known.get("thread", "") == session.event.thread and known.get("said") is True:',
        'known.get("thread", "") == session.event.thread:',
        (f"{_MAIL}::test_what_a_killed_hook_took_and_never_said_comes_again",),
    ),
    Line(
        "what another process is saying is not said twice",
        "console/clients/hook/mail.py",
        "for name, known in left if not _is_at_work(known)}",
        "for name, known in left}",
        (f"{_MAIL}::test_mail_that_a_process_is_about_to_say_is_not_said_by_another",),
    ),
    Line(
        "no mail for a client that is gone",
        "console/clients/hook/output.py",
        "return not poll.poll(0)",
        "return True",
        (f"{_MAIL}::test_an_output_that_nobody_reads_any_more_is_known",),
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
        "no word to Claude Code without a yes or no",
        "console/clients/claude_code.py",
        "    if approve is not True:\n        return None",
        '    if approve is not True:\n        return {"behavior": "deny", "message": "no answer"}',
        (_UNCLEAR,),
    ),
    Line(
        "no word to Codex without a yes or no",
        "console/clients/codex.py",
        "    if approve is False:",
        "    if approve is not True:",
        (_UNCLEAR,),
    ),
    Line(
        "nobody there, nothing asked",
        "store/desk/presence.py",
        'return waits == "always" or (waits == "present" and human_present(team))',
        'return waits != "never"',
        (f"{_WAITING}::test_where_nobody_is_nothing_is_asked_and_nothing_written",),
    ),
    Line(
        "ended in the session, or with it",
        "console/clients/hook/waiting.py",
        "return ANSWERED_THERE if is_read(OUT) else SESSION_ENDED",
        "return ANSWERED_THERE",
        (f"{_WAITING}::test_the_client_is_killed",),
    ),
    Line(
        "what was answered in the session needs nobody",
        "console/clients/hook/ending.py",
        "if shows_decided(session.call.data, asked):",
        "if False:",
        (f"{_WAITING}::test_what_was_answered_in_the_terminal_ends_here",),
    ),
    Line(
        "what was withdrawn is not approved",
        "store/views/requests/judging.py",
        "return RequestState.WITHDRAWN if gone else RequestState.OPEN",
        "return RequestState.APPROVED if gone else RequestState.OPEN",
        (f"{_WAITING}::test_the_dialog_is_dismissed",),
    ),
    Line(
        "an event of another thread shows nothing",
        "console/clients/quick/proof.py",
        '    if asked.get("thread", "") != data.get("agent_id", ""):\n        return False\n',
        "",
        (f"{_WAITING}::test_what_shows_nothing_ends_nothing",),
    ),
    Line(
        "a row that is not renewed is nobody",
        "store/backends/sql/engines/postgres_presence.py",
        "GONE_SECONDS = 2.0",
        "GONE_SECONDS = 3600.0",
        (f"{_SQL}::test_a_process_that_stops_to_beat_counts_as_gone",),
    ),
    Line(
        "a row that is renewed is somebody",
        "store/backends/sql/engines/postgres_presence.py",
        "    beating.start()\n",
        "",
        (f"{_SQL}::test_a_process_is_present_as_long_as_it_beats",),
    ),
    Line(
        "mail for a session that rests, and no other",
        "console/clients/hook/waking.py",
        'newest.get("token") == token and session.files.read(TURN) == turn',
        'newest.get("token") == token',
        (f"{_MAIL}::test_a_session_that_goes_on_or_ends_is_not_waited_for",),
    ),
    Line(
        "allowed once is once",
        "console/clients/hook/allowing.py",
        "            session.files.remove(name)\n",
        "",
        (f"{_MAIL}::test_what_the_client_denied_may_be_allowed_once",),
    ),
    Line(
        "no tool of MCP answers plans",
        "console/mcp/tools.py",
        "if row.kind is not RequestKind.SHUTDOWN:",
        "if False:",
        (f"{_TOOLS}::test_an_answer_cannot_be_sent_as_a_message_not_even_by_the_lead",),
    ),
    Line(
        "no tool of MCP takes a name to act under",
        "console/mcp/tools.py",
        "async def whoami(self) -> ToldMe:",
        'async def whoami(self, agent: str = "") -> ToldMe:',
        (f"{_TOOLS}::test_no_tool_takes_a_name_to_act_under_and_none_answers_for_the_lead",),
    ),
    Line(
        "tools of MCP act for the name of the environment",
        "console/mcp/acting_agent.py",
        "return act(Caller(team, self.name, LOCK_WAIT))",
        "return act(Caller(team, team.config().lead, LOCK_WAIT))",
        (f"{_TOOLS}::test_what_is_sent_bears_the_name_of_the_environment",),
    ),
    Line(
        "waits that end before clients give up",
        "console/mcp/waiting.py",
        "LONGEST = 45.0",
        "LONGEST = 90.0",
        (f"{_TOOLS}::test_every_wait_ends_before_clients_give_up",),
    ),
    Line(
        "a client's own dialog only while nobody is at a console",
        "console/mcp/tools.py",
        "or await self._agent.run(_is_human_awaited):",
        "or False:",
        (f"{_DIALOGS}::test_the_team_says_who_is_asked",),
    ),
    Line(
        "an answer at the console before one in the client",
        "console/mcp/tools.py",
        "if error.code is not Code.ALREADY_ANSWERED:",
        "if True:",
        (f"{_DIALOGS}::test_an_answer_at_a_console_that_was_opened_meanwhile_stands",),
    ),
    Line(
        "a dialog that was answered in the terminal",
        "console/clients/hook/dialogs.py",
        "return self._absent >= _GONE_LOOKS",
        "return False",
        ("tests/hook/test_dialogs.py::test_a_dialog_that_was_open_and_is_not_any_more_was_answered",),
    ),
    Line(
        "a moment between two dialogs",
        "console/clients/hook/dialogs.py",
        "_GONE_LOOKS = 2",
        "_GONE_LOOKS = 1",
        ("tests/hook/test_dialogs.py::test_a_moment_between_two_dialogs_is_no_answer",),
    ),
    Line(
        "links of a client's settings",
        "console/clients/joining/file_change.py",
        "if not real.is_relative_to(base):",
        "if False:",
        ("tests/hook/test_joining.py::test_modes_are_kept_and_links_lead_nowhere_else",),
    ),
)
