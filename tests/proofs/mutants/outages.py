"""Protections of those who wait at a store that goes away: none is lost, handed out twice, or taken for empty."""

from __future__ import annotations

from tests.proofs.mutants.line import Line

_DESK, _SQL = "tests/desk/test_outages.py", "tests/sql/test_outages.py"

OUTAGE_LINES = (
    Line(
        "a wait outlasts a store that is away",
        "store/service/waiting.py",
        "return error.code is Code.STORE_LOCKED or may_pass(error)",
        "return error.code is Code.STORE_LOCKED",
        (f"{_DESK}::test_a_wait_goes_on_for_as_long_as_its_team_is_away_and_then_says_why",),
    ),
    Line(
        "a wait for messages does not end with nothing in a store that is away",
        "store/service/waiting.py",
        "            raise self._outage.error\n",
        '            return Received("", (), "")\n',
        (f"{_SQL}::test_a_wait_that_ends_while_its_server_is_away_ends_with_that_and_not_with_nothing",),
    ),
    Line(
        "an outage is said once",
        "store/service/waiting.py",
        "            self._is_told = True\n",
        "            pass\n",
        (f"{_DESK}::test_a_team_that_is_away_for_more_than_a_moment_is_said_once_and_so_is_its_return",),
    ),
    Line(
        "a hook lets go while its store is away",
        "store/views/verdicts.py",
        "return (outcome,) if is_over or (stop is not None and stop()) else None",
        "return (outcome,) if is_over or (outcome is not None and stop is not None and stop()) else None",
        (f"{_DESK}::test_a_hook_lets_go_also_while_its_team_is_away",),
    ),
    Line(
        "a server that is away is not taken for a human who left",
        "console/agents/asking.py",
        "if found.names or (found.certain and not found.doubtful):",
        "if True:",
        (f"{_SQL}::test_a_hook_does_not_take_a_server_that_is_away_for_a_human_who_left",),
    ),
    Line(
        "a watch that fails is begun again",
        "store/service/waiting.py",
        "        except Exception as error:\n            yield WatchHint",
        "        except TimeoutError as error:\n            yield WatchHint",
        (f"{_DESK}::test_a_watch_that_fails_neither_ends_a_wait_nor_swallows_what_it_took",),
    ),
    Line(
        "what was taken reaches its reader although the store is gone since",
        "store/service/handing_on.py",
        "        trust = Trust(config, is_unchecked=True)\n",
        "        raise\n",
        (f"{_SQL}::test_messages_reach_their_reader_although_the_server_goes_right_after_they_were_taken",),
    ),
    Line(
        "a verdict that could not be checked says so",
        "store/service/handing_on.py",
        "            return Mark.UNCHECKED\n",
        "            return None\n",
        (f"{_SQL}::test_messages_reach_their_reader_although_the_server_goes_right_after_they_were_taken",),
    ),
    Line(
        "a commit that nobody answered is found out",
        "store/service/inbox.py",
        "if not (taken and error.facts.get(OUTCOME_UNKNOWN)):",
        "if True:",
        (f"{_SQL}::test_a_wait_finds_out_what_it_took_once_the_server_is_back[after]",),
    ),
    Line(
        "a commit that was done is not said to have failed",
        "store/backends/sql/transaction.py",
        "return bool(found == written.hash)",
        "return False",
        (f"{_SQL}::test_a_send_whose_commit_nobody_answered_says_what_the_server_has[after]",),
    ),
    Line(
        "a commit that never came is not said to be done",
        "store/backends/sql/transaction.py",
        "return bool(found == written.hash)",
        "return True",
        (f"{_SQL}::test_a_send_whose_commit_nobody_answered_says_what_the_server_has[before]",),
    ),
    Line(
        "a commit that the server is at is waited for",
        "store/backends/sql/transaction.py",
        "        numbers(connection, dialect.keeping(STATE))\n",
        "",
        (f"{_SQL}::test_a_commit_that_the_server_is_still_at_is_waited_for",),
    ),
    Line(
        "what another took is not handed out for a commit that never came",
        "store/service/inbox.py",
        "return all(stored.record.get(key) == taken.record.get(key) for key in keys)",
        "return True",
        (f"{_SQL}::test_a_wait_finds_out_what_it_took_once_the_server_is_back[before]",),
    ),
    Line(
        "a wait keeps in mind what it may have taken",
        "store/service/waiting.py",
        "            self._unsure, self._last = error, None\n",
        "            self._last = None\n",
        (f"{_SQL}::test_a_wait_finds_out_what_it_took_once_the_server_is_back[after]",),
    ),
    Line(
        "mail of a session whose commit nobody answered is said",
        "store/service/sessions.py",
        "if not (handed and error.facts.get(OUTCOME_UNKNOWN)):",
        "if True:",
        (f"{_SQL}::test_mail_of_a_session_whose_commit_nobody_answered_is_said_rather_twice_than_never",),
    ),
    Line(
        "a session that may not write is not used again",
        "store/backends/sql/postgres.py",
        "                    connection.close()\n",
        "                    pass\n",
        (f"{_SQL}::test_a_server_that_takes_no_writes_for_a_while_is_waited_for",),
    ),
    Line(
        "a log that was taken away is not worked with",
        "store/backends/sql/sqlite.py",
        "        if lost == self._log_path:  # others",
        "        if False:  # others",
        (f"{_SQL}::test_a_log_that_is_taken_away_is_said_and_nothing_that_is_written_since_is_undone",),
    ),
    Line(
        "whoever has a log that was taken away takes not away that of others",
        "store/backends/sql/sqlite.py",
        "if self._held is None:",
        "if False:",
        (f"{_SQL}::test_a_log_that_is_taken_away_is_said_and_nothing_that_is_written_since_is_undone",),
    ),
    Line(
        "an index of the log that was taken away is not worked with",
        "store/backends/sql/sqlite.py",
        "if lost == self._index_path:",
        "if False:",
        (f"{_SQL}::test_what_others_wrote_since_the_index_of_the_log_was_taken_away_is_not_written_over",),
    ),
)
