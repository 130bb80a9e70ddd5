"""Addresses of databases: `sqlite:///PATH` and `postgresql://USER:PASSWORD@HOST:PORT/DATABASE?SETTING=VALUE`."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, unquote

from msgspec import Struct
from team_console.store.backends.redact import redact

_FORM = re.compile(
    r"(?P<kind>\w+)(?:\+\w*)*://"
    r"(?:(?P<user>[^:/]*)(?::(?P<password>[^@]*))?@)?"
    r"(?:\[(?P<host6>[^/?]+)\]|(?P<host>[^/:?]+))?(?::(?P<port>[^/?]*))?"
    r"(?:/(?P<database>[^?]*))?(?:\?(?P<settings>.*))?",
    re.DOTALL,
)
"""A driver after the kind, as in `postgresql+psycopg`, says nothing: each kind has one."""
_HOST_AND_PORT = re.compile(r"[\w.-]*:\d*", re.ASCII)


class Address(Struct, frozen=True):
    """An address taken apart.

    Attributes:
        kind: The kind of database.
        spelt: The address as it was given, without the name of a driver.
        options: What it says, by the names of libpq; `dbname` is the path of a file.
    """

    kind: str
    spelt: str
    options: dict[str, str]

    def __repr__(self) -> str:
        return redact(self.spelt)


def parse_address(location: str) -> Address:
    """The address in `location`.

    Raises:
        ValueError: It is none.
    """
    match = _FORM.match(location)
    if match is None:
        raise ValueError("no address of a database")
    kind = "postgresql" if match["kind"] == "postgres" else match["kind"]
    named = {"user": match["user"], "password": match["password"], "dbname": match["database"]}
    options = {name: unquote(value or "") for name, value in named.items()}
    options.update(host=match["host6"] or match["host"] or "", port=_port(match["port"]))
    options.update(_settings(match["settings"] or ""))
    spelt = f"{kind}://{location.partition('://')[2]}"
    return Address(kind, spelt, {name: value for name, value in options.items() if value})


def _port(text: str | None) -> str:
    return str(int(text)) if text else ""


def _settings(query: str) -> dict[str, str]:
    """The last value of each; of several hosts, `host=a:1&host=b:2` or `host=a,b&port=1,2`, all as libpq wants them."""
    pairs = parse_qsl(query)
    settings = dict(pairs)
    hosts = [value for name, value in pairs if name == "host"]
    if len(hosts) > 1 or (hosts and "port" not in settings and _HOST_AND_PORT.fullmatch(hosts[0])):
        if "port" in settings:
            raise ValueError("ports both after the hosts and in a setting")
        places = [host.partition(":") for host in hosts]
        settings["host"] = ",".join(host for host, _, _ in places)
        if any(port for _, _, port in places):
            settings["port"] = ",".join(port for _, _, port in places)
    return settings
