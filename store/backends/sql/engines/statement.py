"""Statements as plain SQL texts: names quoted, lists spelt out, parameters as each driver wants them.

Every text of this package has `:name` where a value goes. Values are always bound; the only strings of others that
become part of a text are names of their tables and columns, which go through `quoted`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from team_console.store.model.errors import Code, TeamError

_PARTS = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|::|:(?P<name>[A-Za-z_]\w*)|%""")
"""What has to be looked at: a text and a quoted name, in which nothing is a parameter, a cast, a parameter, a `%`."""


def quoted(name: str) -> str:
    """The name of a table or column of others as part of a statement, whatever characters it has.

    Raises:
        TeamError: `INVALID_FIELD` for one that no database can have.
    """
    if not name or "\0" in name:
        raise TeamError(Code.INVALID_FIELD, f"{name!r} cannot be the name of a table or column", "Rename it.")
    return '"' + name.replace('"', '""') + '"'


def listed(name: str, values: Iterable[object]) -> tuple[str, dict[str, Any]]:
    """What stands after IN, `(:name_0, :name_1)`, with its values; for no values a list that nothing is in."""
    bound = {f"{name}_{number}": value for number, value in enumerate(values)}
    return f"({', '.join(f':{key}' for key in bound) or 'NULL'})", bound


def insert(table: str, columns: Iterable[str]) -> str:
    """The statement that adds a row; the parameters have the names of the columns."""
    names = list(columns)
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join(f':{name}' for name in names)})"


def containing(text: str) -> str:
    """The pattern for `LIKE :pattern ESCAPE '/'` that finds `text` anywhere."""
    return "%" + re.sub(r"([/%_])", r"/\1", text) + "%"


@lru_cache(maxsize=256)
def for_psycopg(statement: str) -> str:
    """The statement with its parameters as `%(name)s`, and every other `%` doubled."""
    return _PARTS.sub(
        lambda part: f"%({part['name']})s" if part["name"] else part[0].replace("%", "%%"),
        statement,
    )
