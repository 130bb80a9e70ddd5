"""Compose, check and read the JSON of sprint messages, `NAME: {json}`: what is malformed in it, and what is odd.

First, plans: which stories each batch of a session has, by plan, correction and dispatch (seed 002).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from posixpath import normpath
from typing import Any, NamedTuple

from msgspec import Struct
from team_console.store.model.errors import Code, Problem, TeamError
from team_console.store.model.json_text import value_words
from team_console.store.model.message import Fields, Message, nonempty, without
from team_console.store.protocol.foreign_fields import as_key, ids_listed, key_in, text_in
from team_console.store.protocol.kinds import KINDS, wrong_parts
from team_console.store.protocol.parsing import ParsedMessage, parse_message
from team_console.store.protocol.sprint_in_text import Carried

PLAN, CORRECTION, BATCH_REPORT = "BATCH_PLAN_READY", "COURSE_CORRECTION", "SLAVE_BATCH_COMPLETE"
"""Kinds that say which stories each batch has, that change it, and that report a batch as done."""
DISPATCH = "AGENT_DISPATCH_REQUEST"
"""The kind that asks for an agent together with its task: it stands for the first five steps of a sprint, and the
residents are told nothing."""
COMPLETE = "AGENT_COMPLETE"
"""The kind by which an agent reports that its story is done."""
Batches = dict[str, list[str]]
"""Batch id -> its stories."""
Plan = tuple[tuple[str, tuple[str, ...]], ...]
"""Batch id and stories of each batch of a session."""


def plans_of(reads: Iterable[ParsedMessage]) -> dict[str, Plan]:
    """Return session -> its batches by all plans and corrections; what a batch was first planned with counts."""
    sessions: dict[str, Batches] = {}
    for read in reads:
        session = key_in(read.body, "session_id")
        if read.name == PLAN:
            sessions[session] = planned(read.body.get("batches"))
        elif read.name == CORRECTION:
            sessions[session] = replanned(sessions.get(session, {}), read.body, ())
    return {session: _frozen(batches) for session, batches in sessions.items()}


def _frozen(batches: Batches) -> Plan:
    """Return batches as a value that can be compared and kept."""
    return tuple((batch, tuple(stories)) for batch, stories in batches.items())


def planned(batches: Any) -> Batches:
    """Return batch id -> stories, as a plan lists them; of batches that share an id the stories of all."""
    found: dict[str, dict[str, None]] = {}
    for item in batches if isinstance(batches, list) else ():
        if isinstance(item, Mapping) and batch_key(item.get("batch_id")):
            stories = ids_listed(item.get("stories") or item.get("story_keys"))
            found.setdefault(batch_key(item.get("batch_id")), {}).update(dict.fromkeys(stories))
    return {key: list(stories) for key, stories in found.items()}


def replanned(now: Mapping[str, list[str]], body: Fields, begun: Collection[str]) -> Batches:
    """Return the batches after a correction: new ones take their stories over, and only what is dropped is dropped.

    Args:
        now: The batches before it.
        body: The JSON of the correction.
        begun: Stories that somebody works on; they stay in their batch.
    """
    new = planned(body.get("new_batches") or body.get("new_batch_plan"))
    dropped = {story for story in ids_listed(body.get("dropped_stories")) if story not in begun}
    moved = {story for stories in new.values() for story in stories}

    def stays(batch: str, story: str) -> bool:
        """Return whether a batch keeps a story; a new batch of the same id lists its stories anew."""
        return story in begun or not (story in dropped or story in moved or batch in new)

    kept = {batch: [story for story in stories if stays(batch, story)] for batch, stories in now.items()}
    there = {story for stories in kept.values() for story in stories}
    for key, stories in new.items():
        kept[key] = kept.get(key, []) + [story for story in stories if story not in there]
    return nonempty(kept)


def dispatched_name(read: ParsedMessage) -> str:
    """Return the name of the agent that a dispatch asks for: its type and its story, as the protocol names agents."""
    body = read.body
    return f"{key_in(body, 'agent_type')}-{key_in(body, 'story_key')}"


def batch_key(value: Any) -> str:
    """Return a batch id, `1` or `batch-1`, as text."""
    return as_key(value).removeprefix("batch-")


_ODD, _BUSINESS = "BODY_INVALID", "BUSINESS_IN_CREATE_REQUEST"
_LEVELS = ("HIGH", "LOW", "MEDIUM")
_NEEDED_BY_OPERATION = {
    "navigate": ("url",),
    "click": ("selector",),
    "type": ("selector", "input_value"),
    "screenshot": ("screenshot_path",),
    "read_dom": ("selector",),
    "check_element": ("selector",),
}
_BUSINESS_WORDS = r"(?i)story|epic|batch|spec|session|sprint|requirement|acceptance|feature|task(?!_type)"
_SCREENSHOTS = ".sprint-session/screenshots/"


class Oddity(NamedTuple):
    """What is wrong or odd about a body: the code of the finding, the field, and what of it, in words."""

    code: str
    field: str
    text: str


def _oddities(name: str, body: Fields) -> Iterator[Oddity]:
    """Yield what is odd about a body that is well formed, of any kind of the sprint."""
    for key, words in _checker(name).words.items():
        value = body.get(key)
        if isinstance(value, str) and value.upper() not in map(str.upper, words):
            yield Oddity(_ODD, key, f"{value_words(value)} is none of {', '.join(sorted(words))}")
    if body.get("session_id") == "":
        yield Oddity(_ODD, "session_id", "is empty, so nobody can tell which sprint session is meant")
    path = body.get("screenshot_path")
    if isinstance(path, str) and not normpath(path).startswith(_SCREENSHOTS):
        yield Oddity(_ODD, "screenshot_path", f"{value_words(path)} is not below {_SCREENSHOTS}")
    yield from _checker(name).body(body)


def _creation_oddities(body: Fields) -> Iterator[Oddity]:
    """Yield the fields of a request for an agent that tell what it is to work on."""
    for key in body.keys() - KINDS["AGENT_CREATE_REQUEST"].needs.keys():
        if re.search(_BUSINESS_WORDS, key):
            yield Oddity(_BUSINESS, key, "a creation request carries no business context")


def _batch_oddities(body: Fields) -> Iterator[Oddity]:
    """Yield that a batch reports a story as completed and as failed."""
    both = sorted({*body["stories_completed"]} & {*body["stories_failed"]})
    if both:
        yield Oddity(_ODD, "stories_failed", f"{', '.join(both)} are reported completed and failed")


def _operation_oddities(body: Fields) -> Iterator[Oddity]:
    """Yield the fields that an operation in a browser cannot do without, and that are null."""
    for key in _NEEDED_BY_OPERATION.get(body["operation"], ()):
        if body[key] is None:
            yield Oddity(_ODD, key, f"the operation {body['operation']} needs it")


def _plan_oddities(body: Fields) -> Iterator[Oddity]:
    """Yield what does not fit together in a plan of batches: numbers, doubles, unknown stories, circles."""
    batches, total = body["batches"], body["total_stories"]
    listed = [story for batch in batches for story in batch["stories"]]
    if len(listed) != total:
        yield Oddity(
            "STORY_COUNT_MISMATCH", "total_stories", f"total_stories says {total}, the batches list {len(listed)}"
        )
    if len({*listed}) != len(listed):
        yield Oddity(_ODD, "batches", "a story stands in it twice")
    twice = [key for key, count in Counter(str(batch["batch_id"]) for batch in batches).items() if count > 1]
    if twice:
        yield Oddity(_ODD, "batches", f"{', '.join(twice)} is the id of several batches")
    needs = {story: inner["depends_on"] for story, inner in body["dependency_graph"].items()}
    unknown = sorted({*needs, *chain.from_iterable(needs.values())} - {*listed})
    if unknown:
        yield Oddity(_ODD, "dependency_graph", f"{', '.join(unknown)} is in no batch")
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        yield Oddity(_ODD, "dependency_graph", f"they wait for each other: {', '.join(error.args[1])}")


def sprint_content(name: str, body: Fields) -> str:
    """Return the content a sprint message travels as: `NAME: {json}`, `msg_type` first (requirements 124, 125).

    Raises:
        TeamError: `INVALID_FIELD` naming the field that is missing or wrong.
    """
    _check_body(name, body)
    said = {"msg_type": name, **without(body, ("msg_type",))}
    return f"{name}: {json.dumps(said, ensure_ascii=False, allow_nan=False)}"


def _check_body(name: str, body: Fields) -> None:
    """Refuse a body that we would send and others could not read.

    Raises:
        TeamError: `INVALID_FIELD` naming the first field that is missing, wrong or out of place.
    """
    if body.get("msg_type", name) != name:
        raise _invalid(name, "msg_type", f"says {value_words(body['msg_type'])}, the message is {name}")
    for code, key, text in _body_problems(name, body):
        if code in (_MALFORMED, _BUSINESS):
            raise _invalid(name, key, text)


def check_carried(carried: Carried) -> None:
    """Refuse a plain message of ours whose sprint message is not what it says.

    Raises:
        TeamError: `INVALID_FIELD` naming the place.
    """
    if carried.trouble:
        hint = "After the colon stands one JSON object."
        raise TeamError(Code.INVALID_FIELD, f"content: the JSON cannot be read: {carried.trouble}", hint)
    if carried.body.get("msg_type", carried.body.get("type")) is None:
        raise _invalid(carried.name, "msg_type", "is missing")
    _check_body(carried.name, carried.body)


_MALFORMED = "MALFORMED"
_RESEND = "Ask the sender to send it again in the form of the protocol."
_HINTS = {
    "STORY_COUNT_MISMATCH": "Ask the scrum master which stories are missing.",
    _BUSINESS: "The slave gives the context to the new agent in TASK_ASSIGNMENT.",
}


def sprint_problems(message: Message) -> tuple[Problem, ...]:
    """Return where a stored sprint message violates the form of its kind."""
    read = parse_message(message)
    name, body = read.name, read.body
    found = [(code, field, f"{name}: {field}: {text}") for code, field, text in _body_problems(name, body)]
    own, follows = _checker(name).own
    value = text_in(body, own)
    if value not in ("", message.sender):
        found.append((_ODD, own, f"{name}: {own} says {value:.80}, the sender is {message.sender}; {follows}"))
    return tuple(
        Problem(
            _ODD if code == _MALFORMED else code,
            "warning",
            f"{message.message_id} {field}",
            text,
            _HINTS.get(code, _RESEND),
        )
        for code, field, text in found
    )


def _body_problems(name: str, body: Fields) -> Iterator[Oddity]:
    """Yield what is wrong with the body of a sprint message, or else what is odd about it."""
    wrong = list(wrong_parts(body, KINDS[name].needs))
    yield from (Oddity(_MALFORMED, field, text) for field, text in wrong)
    if not wrong:
        yield from _oddities(name, body)


def _invalid(name: str, field: str, text: str) -> TeamError:
    """Return the refusal of a body for one of its fields; it lists those that the kind has."""
    fields = ", ".join(key.removesuffix("?") for key in KINDS[name].needs)
    return TeamError(Code.INVALID_FIELD, f"{name}: {field}: {text}", f"{name} has {fields}.")


class Checker(Struct, frozen=True):
    """What is asked of a kind of sprint message beyond its fields (`MessageKind.needs`).

    Attributes:
        own: The field that holds its sender's own name (requirement 192), empty without one, and what follows when it
            does not.
        words: Field -> the values that the sources name; another is a warning. Upper and lower case count the same.
        body: Finds what is odd in a body that is well formed.
    """

    own: tuple[str, str] = ("", "")
    words: Mapping[str, Collection[str]] = {}
    body: Callable[[Fields], Iterable[Oddity]] = lambda body: ()


_CHECKERS: Mapping[str, Checker] = {
    "AGENT_CREATE_REQUEST": Checker(own=("requested_by", "the sender gets the answer"), body=_creation_oddities),
    "TASK_ASSIGNMENT": Checker(own=("report_to", "the agent will report to the one named")),
    BATCH_REPORT: Checker(body=_batch_oddities),
    "BATCH_PLAN_READY": Checker(body=_plan_oddities),
    "CC_TRIGGER": Checker(words={"reason": ("user_request", "repeated_failures", "new_requirements")}),
    "DEBUG_REQUEST": Checker(words={"severity_hint": _LEVELS}),
    "DEBUG_RESULT": Checker(words={"severity": _LEVELS, "confidence": _LEVELS}),
    "BROWSER_REQUEST": Checker(words={"operation": _NEEDED_BY_OPERATION}, body=_operation_oddities),
}


def _checker(name: str) -> Checker:
    return _CHECKERS.get(name) or Checker()
