"""Connect to a database: statements as plain SQL go in, rows come out as tuples."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from msgspec import Struct
from team_console.store.model.errors import Code, TeamError

# Parts of statements: names quoted, lists spelt out, patterns.


def sql_name(name: str) -> str:
    """Return the name of a table or column of others as part of a statement, whatever characters it has.

    Raises:
        TeamError: `INVALID_FIELD` for one that no database can have.
    """
    if not name or "\0" in name:
        raise TeamError(Code.INVALID_FIELD, f"{name!r} cannot be the name of a table or column", "Rename it.")
    return '"' + name.replace('"', '""') + '"'


def in_list(name: str, values: Iterable[object]) -> tuple[str, dict[str, Any]]:
    """Return the text behind IN, `(:name_0, :name_1)`, with its values; for no values a list that matches nothing."""
    bound = {f"{name}_{number}": value for number, value in enumerate(values)}
    return f"({', '.join(f':{key}' for key in bound) or 'NULL'})", bound


def insert(table: str, columns: Iterable[str]) -> str:
    """Return the statement that adds a row; the parameters have the names of the columns."""
    names = list(columns)
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join(f':{name}' for name in names)})"


LONGEST_SOUGHT = 4000
"""Characters of a text that a pattern of LIKE seeks: SQLite refuses patterns above 50,000 bytes."""


def like_pattern(text: str) -> str:
    """Return the pattern for `LIKE :pattern ESCAPE '/'` that finds `text` anywhere; of a long one its beginning."""
    return "%" + re.sub(r"([/%_])", r"/\1", text[:LONGEST_SOUGHT]) + "%"


# A connection to a database: statements in, rows as tuples out; and what tables and columns are there.

Values = Mapping[str, Any]
_NO_VALUES: Values = {}
_VALUES_AT_ONCE = 500
"""Values that one statement looks for."""


class FileId(NamedTuple):
    """Which file it is, whatever its name: a name may be given to another."""

    device: int
    inode: int


class Column(Struct, frozen=True):
    """A column of a table.

    Attributes:
        type: Its type as the database spells it, fit for a CAST.
        is_key: Whether no two rows can have the same value in it.
        is_required: Whether it takes no NULL.
        has_default: Whether the database gives it a value where a new row brings none.
        allowed_words: The only values it takes, of an enumeration; None for any other type.
        ignores_case: Whether its collation takes different texts for one, so that nothing can be looked for in them.
    """

    name: str
    type: str
    is_key: bool
    is_required: bool = False
    has_default: bool = True
    allowed_words: frozenset[str] | None = None
    ignores_case: bool = False


class Relation(Struct, frozen=True):
    """A table or a view.

    Attributes:
        name: As it is spelled in the database.
        source: The table behind a view, as far as it is known; None for a table.
        hides_rows: Whether policies of the database decide which of its rows, or of ours beside it, this role sees.
        inheriting: A table that inherits from it, as part of a statement. Its rows are read with those of the table,
            and their ids need not be unique.
        row_place: What numbers its rows about as they came, as part of a statement; empty where nothing does.
        mixed_tables: Which table is used and which other of its name is not, where tables of two teams are used as
            one; else empty.
    """

    name: str
    source: str | None = None
    hides_rows: bool = False
    inheriting: str | None = None
    row_place: str = ""
    mixed_tables: str = ""


class Meddler(NamedTuple):
    """What other programs put on a table and what may change or take away a row that is written.

    Attributes:
        kind: `trigger` or `rule`.
    """

    kind: str
    name: str


class TransactionLostError(Exception):
    """The database ended the whole transaction at a statement, not that statement alone."""


def no_file(location: str, path: Path) -> TeamError:
    """Return the error for a file that was there and cannot be found: it is gone, or its folder is closed to us."""
    try:
        path.stat()
    except PermissionError as error:
        text = f"{location} cannot be read: {error.strerror}"
        return TeamError(Code.STORE_UNREADABLE, text, "Check the rights on its folder.")
    except OSError:
        pass
    return TeamError(Code.STORE_UNREADABLE, f"{location} is gone", "Put the file back.", vanished=True)


class Connection(ABC):
    """One connection of a driver, used by one thread at a time. Statements are texts with `:name` for values.

    Attributes:
        driver: The driver's own connection.
        file: Which file was opened; None for a server.
        error: The class of all errors of the driver.
        is_strict: Whether a value has to be of its column's type.
        blob: The name of the type for bytes.
    """

    error: ClassVar[type[Exception]]
    is_strict: ClassVar[bool]
    blob: ClassVar[str]

    def __init__(self, driver: Any, file: FileId | None = None) -> None:
        self.driver = driver
        self.file = file

    def rows(self, statement: str, values: Values = _NO_VALUES) -> list[tuple[Any, ...]]:
        """Return all rows that the statement gives."""
        with closing(self._execute(statement, values)) as cursor:
            return list(cursor.fetchall())

    def rows_among(self, statement: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        """Return the rows that a statement ending in `IN` gives for these values, asked for some hundred at a time."""
        starts = range(0, len(values), _VALUES_AT_ONCE)
        parts = [in_list("value", values[start : start + _VALUES_AT_ONCE]) for start in starts]
        return [row for some, bound in parts for row in self.rows(f"{statement} {some}", bound)]

    def chunks(self, size: int, statement: str, values: Values = _NO_VALUES) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows, `size` at a time."""
        with closing(self._execute(statement, values)) as cursor:
            while chunk := cursor.fetchmany(size):
                yield chunk

    def first(self, statement: str, values: Values = _NO_VALUES) -> tuple[Any, ...] | None:
        """Return the first row, None when there is none."""
        with closing(self._execute(statement, values)) as cursor:
            row: tuple[Any, ...] | None = cursor.fetchone()
            return row

    def scalar(self, statement: str, values: Values = _NO_VALUES) -> Any:
        """Return the first value of the first row, None when there is none."""
        row = self.first(statement, values)
        return None if row is None else row[0]

    def change(self, statement: str, values: Values = _NO_VALUES) -> None:
        """Execute a statement that gives no rows, or several without values."""
        self._execute(statement, values).close()

    def change_all(self, statement: str, rows: Sequence[Values]) -> int:
        """Execute it once for each of `rows`; returns how many rows of the table that changed in all."""
        with closing(self.driver.cursor()) as cursor:
            cursor.executemany(self._for_driver(statement), rows)
            return int(cursor.rowcount)

    @property
    @abstractmethod
    def is_idle(self) -> bool:
        """Whether it is in order and nothing that was begun on it is left open."""

    def close(self) -> None:
        """Close it; what was not committed is undone."""
        self.driver.close()

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """Undo what the block did where it ends with an error, and nothing before it.

        Raises:
            TransactionLostError: The block ended the transaction, as a trigger may; all of it is undone.
        """
        self.change("SAVEPOINT part")
        try:
            yield
        except BaseException as error:
            if not self.is_idle:
                self.change("ROLLBACK TO SAVEPOINT part")
                self.change("RELEASE SAVEPOINT part")
            elif isinstance(error, self.error):
                raise TransactionLostError(str(error)) from error
            raise
        self.change("RELEASE SAVEPOINT part")

    @abstractmethod
    def refuses_row(self, error: Exception) -> bool:
        """Return whether the error is about the row that was written, so that other rows may be taken."""

    def check_at_once(self) -> None:
        """Let constraints that wait for the commit speak at each statement of this transaction, where they can; where
        not, `references` and `check_references` look.
        """
        return None

    def check_references(self, table: str, rows: Sequence[Values]) -> None:
        """Refuse rows that were written and refer to a row that is not there, where the commit alone would say so.

        Args:
            table: As part of a statement.
            rows: What was written, by column, with the `message_id` of each, or its `old_id`.

        Raises:
            Exception: An error of the driver that is about the row.
        """
        return None

    @abstractmethod
    def relation(self, name: str) -> Relation | None:
        """Return the table or view of that name, else one whose name is the same but for capitals."""

    def references(self, table: str) -> list[tuple[str, str]]:
        """Return (table, column) of each reference to rows of `table` that would be left without its row.

        An empty list for a database that itself says which table refuses to let a row go.
        """
        return []

    @abstractmethod
    def indexes(self, table: str) -> frozenset[str]:
        """Return the names of the indexes of a table."""

    @abstractmethod
    def meddlers(self, table: str, event: str) -> list[Meddler]:
        """Return what may meddle with an `INSERT`, `UPDATE` or `DELETE` of the table's rows."""

    @abstractmethod
    def tables(self, names: Collection[str]) -> Mapping[str, bool]:
        """Return those of `names` that are tables of this database, each with whether it may be read."""

    @abstractmethod
    def columns(self, table: str) -> list[Column]:
        """Return the columns of a table or view, in their order; none when there is no such thing."""

    def _execute(self, statement: str, values: Values) -> Any:
        return self.driver.execute(self._for_driver(statement), values) if values else self.driver.execute(statement)

    def _for_driver(self, statement: str) -> str:
        """Return the statement with its parameters as the driver wants them."""
        return statement
