"""Find the sprint message that the text of a plain message carries: `NAME: {json}`, and forms that come near to it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from msgspec import Struct
from team_console.store.model.json_object import refuse_constant, refuse_repeated_keys
from team_console.store.model.json_text import json_trouble
from team_console.store.model.message import Fields
from team_console.store.protocol.kinds import DECIDED_BY_LEAD, KINDS, Family, kind_of

CARRIERS = frozenset({"message", "broadcast"})
"""Types whose content may carry a sprint message."""

PREFIX = re.compile(r"\s*([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\s*:\s*")
"""The name as the protocol writes it, up to its JSON (requirement 124)."""

_NAMES = {kind.name for kind in KINDS.values() if kind.family is Family.SPRINT}


@cache
def _near_pattern() -> re.Pattern[str]:
    """Return a name in another form in front of a brace; many names take long to compile."""
    # Each run of signs is one class, with nothing beside it that could take the same signs: time stays linear.
    return re.compile(
        r"(?:^|(?<=[\s\ufeff*_`#~(]))("
        + "|".join(name.replace("_", r"[_ \-]") for name in sorted(_NAMES, key=len, reverse=True))
        + r")[\s*_`~:：=>–—\-]*(?:json\s*)?(?=\{)",
        re.IGNORECASE,
    )


_MARKS = " \t\r\n*_`~\ufeff\u200b"
"""What may stand around a message in another form: blanks, marks of Markdown, a byte order mark."""
_BEGINNING = 4000
"""Characters in which a name in another form is looked for: it stands behind a greeting, not behind a chapter."""
NO_FIELDS: Fields = MappingProxyType({})


class Carried(Struct, frozen=True):
    """A sprint message found in a plain message.

    Attributes:
        name: The name of its kind, in the spelling of the protocol.
        body: Its JSON, values unchecked; empty where it cannot be read.
        trouble: Why the JSON cannot be read; empty where it can.
        is_near: Whether it is in another form than `NAME: {json}`.
        counts: Whether it is taken for a message of its kind. A near form is, where a human or the lead has to decide
            on it: whoever asked would wait for ever. Any other near form stays a plain text, and its sender is told.
    """

    name: str
    body: Fields
    trouble: str = ""
    is_near: bool = False
    counts: bool = True


def carried_name(type: str, payload: Mapping[str, Any]) -> str | None:
    """Return the name of the sprint message that a plain message is taken for; None for any other."""
    if type not in CARRIERS:
        return None
    name = _prefix_of(payload.get("content"))
    if name is not None:
        return name
    near = _found_near(payload)
    return near.name if near is not None and near.counts else None


def carried_in(type: str, payload: Mapping[str, Any]) -> Carried | None:
    """Return the sprint message that a plain message carries, in the form of the protocol or near to it; else None."""
    if type not in CARRIERS:
        return None
    content = payload.get("content")
    name = _prefix_of(content)
    if name is None:
        return _found_near(payload)
    try:
        return Carried(name, parse_carried(content)[1])  # type: ignore[arg-type]
    except ValueError as error:
        # Behind the name may stand JSON in a fence, which is a form near to that of the protocol.
        fenced = _found_near(payload)
        return fenced if fenced is not None and fenced.counts else Carried(name, NO_FIELDS, str(error))


def _prefix_of(content: Any) -> str | None:
    """Return the name with which a content begins as a sprint message does; None where it begins otherwise."""
    match = PREFIX.match(content) if isinstance(content, str) else None
    if match is None:
        return None
    name = match.group(1)
    return name if content.startswith("{", match.end()) or kind_of(name).family is Family.SPRINT else None


def parse_carried(content: str) -> tuple[str, Fields]:
    """Split `NAME: {json}`.

    Raises:
        ValueError: What stands there is not one JSON object with distinct keys; the text says where.
    """
    match = PREFIX.match(content)
    if match is None:
        raise ValueError("no name before a colon")
    body, end = _object_at(content, match.end())
    if content[end:].strip():
        found = json.JSONDecodeError("Extra data", content[match.end() :], end - match.end())
        raise ValueError(json_trouble(found))
    return match.group(1), body


def _object_at(text: str, begin: int) -> tuple[dict[str, Any], int]:
    """Return the JSON object that begins at `begin`, and where it ends.

    Raises:
        ValueError: There is none, or one that names a key twice; the text says where, counted from `begin`.
    """
    text = text[begin:] if begin else text
    decoder = json.JSONDecoder(object_pairs_hook=refuse_repeated_keys, parse_constant=refuse_constant)
    try:
        body, end = decoder.raw_decode(text)
    except json.JSONDecodeError as error:
        raise ValueError(json_trouble(error)) from None
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(body, dict):
        raise ValueError("not a JSON object")
    return body, begin + end


# Forms near to `NAME: {json}`, as models write them: bold, a heading, a full-width colon, small letters, a greeting
# before it, all of it in a fence, the JSON alone, a mapping in place of the text.


def _found_near(payload: Mapping[str, Any]) -> Carried | None:
    """Return the sprint message in another form that a payload carries; None where it carries none."""
    content = payload.get("content")
    if isinstance(content, str):
        return _found_near_in_text(content)
    if isinstance(content, Mapping):
        body = content
    elif content is None:
        body = payload
    else:
        body = NO_FIELDS
    name = _kind_stated(body)
    return None if name is None else _carried_near(name, body)


def _carried_near(name: str, body: Fields, *, is_clear: bool = True) -> Carried:
    """Return a sprint message in another form than the protocol's, with its name as the protocol spells it.

    Args:
        is_clear: Whether nothing stands beside it that makes it doubtful what is asked for.
    """
    if _kind_stated(body) == name and "msg_type" in body:
        body = {**body, "msg_type": name}
    return Carried(name, body, is_near=True, counts=is_clear and kind_of(name).opens in DECIDED_BY_LEAD)


def _found_near_in_text(content: str) -> Carried | None:
    """Return the sprint message in another form that a text carries; None where it carries none."""
    if "{" not in content:
        return None
    beginning = content[:_BEGINNING]
    found = [match for match in _near_pattern().finditer(beginning) if not _is_quoted(beginning, match.start())]
    if not found:
        return _json_alone(content)
    name = _as_protocol_spells(found[0].group(1))
    try:
        body, end = _object_at(content, found[0].end())
    except ValueError as error:
        return Carried(name, NO_FIELDS, str(error), is_near=True, counts=False)
    # Two of them, something behind the JSON, or another name in it: nobody can tell what is asked for.
    is_clear = len(found) == 1 and not content[end:].strip(_MARKS) and _kind_stated(body) in (None, name)
    return _carried_near(name, body, is_clear=is_clear)


def _json_alone(content: str) -> Carried | None:
    """Return what a JSON object by itself, perhaps in a fence, says to be."""
    text = content.strip(_MARKS)
    text = text.removeprefix("json").lstrip()
    if not text.startswith("{") or "type" not in text:
        return None
    try:
        body, end = _object_at(text, 0)
    except ValueError:
        return None
    name = _kind_stated(body)
    if name is None or text[end:].strip(_MARKS):
        return None
    return _carried_near(name, body)


def _is_quoted(text: str, at: int) -> bool:
    """Return whether the line is a quotation of somebody else's words."""
    return text[text.rfind("\n", 0, at) + 1 : at].lstrip().startswith(">")


def _kind_stated(body: Mapping[str, Any]) -> str | None:
    """Return the sprint kind that a JSON says it is, in the spelling of the protocol; None where it says none."""
    value = body.get("msg_type", body.get("type"))
    name = _as_protocol_spells(value) if isinstance(value, str) else ""
    return name if name in _NAMES else None


def _as_protocol_spells(name: str) -> str:
    """Return a name in capitals with `_` between its words, whether or not a kind has it."""
    return name.strip().upper().replace(" ", "_").replace("-", "_")
