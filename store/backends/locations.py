"""Make locations of teams absolute, as a user gives them, and show them without passwords."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote, unquote_plus

from team_console.store.model.errors import Code, TeamError
from team_console.store.model.safe import safe_line


def absolute(given: str) -> Path:
    """Return the place as an absolute path without `..`; `~name` stays as it is where no user has this name.

    Raises:
        TeamError: `TEAM_NOT_FOUND` for an empty text, as from a script whose variable is not set, which would mean the
            current folder; for a text that no file can be named; also when the place counts from a current folder that
            is gone.
    """
    if not given:
        raise TeamError(Code.TEAM_NOT_FOUND, "the location is empty", "Name a place; a dot is the current folder.")
    # guard: location-that-names-no-file
    if not _can_be_named(given):
        text = f"no file can have the name {redact(safe_line(given))!r}"
        raise TeamError(Code.TEAM_NOT_FOUND, text, "Correct the location: it holds a character that no name has.")
    try:
        return _without_ways_up(Path(os.path.expanduser(given)).absolute())
    except OSError as error:
        text = f"the current folder cannot be told: {error.strerror}"
        raise TeamError(
            Code.TEAM_NOT_FOUND, text, "Change to a folder that is there, or give absolute paths."
        ) from error


def _can_be_named(given: str) -> bool:
    """Return whether a file can have this name: a NUL ends one, and half a character, as JSON can hold, is in none."""
    try:
        return b"\0" not in os.fsencode(given)
    except UnicodeEncodeError:
        return False


def _without_ways_up(path: Path) -> Path:
    """Return the same place: one that is kept must not lead through a folder that has nothing to do with it and goes
    away.

    A link is left as it is, but for `link/..`, which is not the folder that the link is in.
    """
    place = Path(path.anchor)
    for part in path.parts[1:]:
        if part != "..":
            place /= part
        elif os.path.islink(place):
            place = Path(os.path.realpath(place)).parent
        else:
            place = place.parent
    return place


def unseen(*paths: Path) -> str | None:
    """Return why the system hides whether one of these paths exists, such as missing rights; None when it does not."""
    for path in paths:
        try:
            os.stat(path)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            return error.strerror
    return None


# Passwords in locations of databases: found wherever one may stand, and covered before anybody sees the text.

COVER = "***"
SHOWN = frozenset(
    {
        *("host", "hostaddr", "port", "dbname", "user", "service", "passfile", "application_name", "client_encoding"),
        *("sslmode", "sslcert", "sslkey", "sslrootcert", "sslcrl", "target_session_attrs", "load_balance_hosts"),
        *("connect_timeout", "keepalives", "keepalives_idle", "keepalives_interval", "keepalives_count"),
    }
)
"""Settings in an address that may be read by everybody. What is not here, a slip like `passwrd` too, is covered."""
_ADDRESS = r"\S+"
"""Each word of a text may be an address."""
_USER = re.compile(r"/[^/?#:@]*:")
"""`//user:`, and `/user:`, which a slip of the finger leaves."""
_SETTING = r"(?P<before>(?:^|[?&;\s])(?P<name>[A-Za-z_]+)\s*=)(?P<password>[^&;#\s]+)"
"""`?name=value`, `&name=value`, and the `name=value name=value` form of libpq."""
_SHORTEST = 3
"""A shorter password is not looked for in other texts: covering every `a` would make them unreadable."""


def redact(location: str) -> str:
    """Return the location with every password in it covered; the rest as it was given."""
    return re.sub(_SETTING, _covered, re.sub(_ADDRESS, _covered_user, location))


def _covered_user(match: re.Match[str]) -> str:
    """Return an address (of `_ADDRESS`) with the password behind its user covered."""
    address = match[0]
    found = _user_password(address)
    return f"{address[: found[0]]}{COVER}{address[found[1] :]}" if found is not None else address


def _user_password(address: str) -> tuple[int, int] | None:
    """Return where the password of `//user:password@host` begins and ends.

    It may hold `/` and `@`, though an address should spell them %2F and %40, so it ends at the last `@`. The end is
    looked for first and once: a text of many slashes and colons takes no longer than another.
    """
    end = address.rfind("@")
    user = _USER.search(address, 0, end) if end > 0 else None
    return (user.end(), end) if user is not None else None


def passwords_in(location: str) -> frozenset[str]:
    """Return every password in the location, as spelt there and as meant, for `cover`."""
    addresses = re.findall(_ADDRESS, location)
    spelt = [address[slice(*found)] for address in addresses if (found := _user_password(address)) is not None]
    spelt += [match["password"] for match in re.finditer(_SETTING, location) if match["name"].lower() not in SHOWN]
    return frozenset(word for text in spelt for word in (text, unquote(text), unquote_plus(text)))


def cover(text: str, passwords: Iterable[str]) -> str:
    """Return a text, such as a driver's own words, without these passwords."""
    for password in sorted(passwords, key=len, reverse=True):
        if len(password) >= _SHORTEST:
            text = text.replace(password, COVER)
    return text


def _covered(match: re.Match[str]) -> str:
    """Return a setting (of `_SETTING`) with its value covered, unless everybody may read it."""
    # guard: passwords-covered
    return match[0] if match["name"].lower() in SHOWN else f"{match['before']}{COVER}"
