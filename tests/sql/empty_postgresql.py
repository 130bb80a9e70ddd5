"""A new database on a real PostgreSQL server, where there is one."""

from __future__ import annotations

import pytest


def empty_postgresql() -> str:
    """The location of a new database without any tables; skips the test where no server can be had."""
    pytest.importorskip("psycopg")
    from tests.sql.server import fresh_database, shared_server

    server = shared_server()
    if server is None:
        pytest.skip("no PostgreSQL server is installed")
    return fresh_database(server)
