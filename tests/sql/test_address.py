"""Every form of address that leads to a database, and what of it reaches the driver."""

from __future__ import annotations

import pytest
from team_console.store.backends.sql.connection import parse_address

U = {"user": "u", "host": "h", "dbname": "d"}


@pytest.mark.parametrize(
    ("location", "options"),
    [
        ("postgresql://u@h/d", U),
        ("postgresql+psycopg://u@h/d", U),
        ("postgres://u@h/d", U),
        ("postgresql://u:p%40s%2Fs@h:5433/d", {**U, "password": "p@s/s", "port": "5433"}),
        ("postgresql://u:a b+c@h/d", {**U, "password": "a b+c"}),
        ("postgresql://u:p%zz@h/d", {**U, "password": "p%zz"}),
        ("postgresql://u@[::1]:5433/d", {**U, "host": "::1", "port": "5433"}),
        ("postgresql://u@/d?host=/run/postgresql&port=5433", {**U, "host": "/run/postgresql", "port": "5433"}),
        ("postgresql:///d?host=%2Frun%2Fpostgresql", {"dbname": "d", "host": "/run/postgresql"}),
        ("postgresql://u@h/d?sslmode=require&password=a+b", {**U, "sslmode": "require", "password": "a b"}),
        ("postgresql://u@/d?host=a:1&host=b:2", {**U, "host": "a,b", "port": "1,2"}),
        ("postgresql://u@/d?host=a,b&port=1,2", {**U, "host": "a,b", "port": "1,2"}),
        ("postgresql://u@h:7/d?host=a&host=b", {**U, "host": "a,b", "port": "7"}),
        ("postgresql://u@x/d?host=h:5433", {**U, "port": "5433"}),
        ("postgresql://", {}),
        ("postgresql:///?service=prod", {"service": "prod"}),
    ],
)
def test_what_an_address_says_reaches_the_driver(location: str, options: dict[str, str]) -> None:
    address = parse_address(location)
    assert address.kind == "postgresql"
    assert address.options == options


@pytest.mark.parametrize(
    ("location", "path"),
    [
        ("sqlite:///team.db", "team.db"),
        ("sqlite:////tmp/a%20b.db", "/tmp/a b.db"),
        ("sqlite+pysqlite:///team.db?mode=ro", "team.db"),
        ("sqlite://", ""),
    ],
)
def test_an_address_of_a_file_has_its_path(location: str, path: str) -> None:
    address = parse_address(location)
    assert (address.kind, address.options.get("dbname", "")) == ("sqlite", path)


@pytest.mark.parametrize(
    "location", ["postgresql://u@h:port/d", "://", "x y://", "postgresql://u@/d?host=a:1&host=b:2&port=3"]
)
def test_what_is_no_address_is_refused(location: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - nobody sees its words
        parse_address(location)


def test_an_address_never_shows_its_password() -> None:
    address = parse_address("postgresql+psycopg://u:geheim@h/d?sslpassword=heimlich")
    assert repr(address) == "postgresql://u:***@h/d?sslpassword=***"
    assert (address.options["password"], address.options["sslpassword"]) == ("geheim", "heimlich")
