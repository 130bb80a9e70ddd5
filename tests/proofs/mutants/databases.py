"""Protections of what is asked of databases, and of the connections that ask."""

from __future__ import annotations

from tests.proofs.mutants.line import Line

_CONNECTIONS = "tests/sql/test_connections.py"
_STATEMENT = "tests/sql/test_statement.py"
_LIMIT = "tests/sql/test_limit.py"
_IDS = "tests/sql/test_hostile_ids.py"

DATABASE_LINES = (
    Line(
        "of what waits the most urgent is handed out",
        "store/service/inbox.py",
        "for message in wanted.among(seen, tx.now, ranks)]",
        "for message in seen]",
        (f"{_LIMIT}::test_the_most_urgent_is_handed_out_first",),
    ),
    Line(
        "what is not wanted any more makes room for the next",
        "store/backends/sql/transaction.py",
        "found += [message for message in read if enough.fits(message)]",
        "found += read",
        (f"{_LIMIT}::test_what_was_read_since_it_was_seen_makes_room_for_the_next",),
    ),
    Line(
        "an id that no column holds is nobody's",
        "store/backends/sql/transaction.py",
        "return [message for message in found if carries(message, request_id)]",
        "return found",
        (f"{_IDS}::test_one_that_is_stored_as_another_is_not_taken_for_it",),
    ),
    Line(
        "a name of others stays within its quotes",
        "store/backends/sql/connection.py",
        """name.replace('"', '""')""",
        "name",
        (f"{_STATEMENT}::test_a_name_of_others_cannot_end_its_quotes",),
    ),
    Line(
        "what stands in quotes is no parameter",
        "store/backends/sql/connection.py",
        """'(?:[^']|'')*'|""",
        "",
        (f"{_STATEMENT}::test_parameters_are_spelt_as_psycopg_wants_them",),
    ),
    Line(
        "a connection that does not answer is not used",
        "store/backends/sql/schema.py",
        "if connection.answers():",
        "if True:",
        (f"{_CONNECTIONS}::test_connections_to_a_server_that_was_started_again_are_replaced",),
    ),
    Line(
        "a connection belongs to the process that opened it",
        "store/backends/sql/schema.py",
        "            self._kept, self._pid = [], os.getpid()\n",
        "            pass\n",
        (f"{_CONNECTIONS}::test_a_team_works_on_both_sides_of_a_fork",),
    ),
    Line(
        "a number of changes counts for its connection",
        "store/backends/sql/sqlite.py",
        "return self._identity, self._readers, ",
        "return self._identity, ",
        ("tests/sql/test_closing.py::test_what_was_written_since_a_team_was_closed_is_seen",),
    ),
)
