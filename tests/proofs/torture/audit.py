"""Judges a team after the torture from the receipts: what was acknowledged, and what is there."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from tests.proofs.torture.stores import Contents, Record

_Pair = tuple[str, str]


class Receipts:
    """Everything the children noted in a folder.

    Attributes:
        sent: Ids whose sending was acknowledged.
        got: (agent, id) -> how often plain `receive` handed it out.
        acked: (agent, id) -> how often it was acknowledged.
        asked: Request ids of plans.
        answered: Request id -> how often an answer was acknowledged.
        screens: Consoles that were gone through until their line was lost.
        errors: Code of refusals -> how often; expected under torture.
        wrong: What a child saw that must not be.
    """

    def __init__(self, folder: Path) -> None:
        notes: dict[str, list[list[str]]] = defaultdict(list)
        for path in sorted(folder.iterdir()):
            for kind, *words in map(str.split, path.read_text().splitlines()):
                notes[kind].append(words)
        self.sent, self.asked = set(chain(*notes["sent"])), set(chain(*notes["asked"]))
        self.got = Counter[_Pair]((agent, word) for agent, *words in notes["got"] for word in words)
        self.acked = Counter[_Pair]((agent, word) for agent, *words in notes["acked"] for word in words)
        self.answered = Counter(chain(*notes["answered"]))
        self.screens = len(notes["screened"])
        self.errors = Counter(words[0] for words in notes["error"])
        self.wrong = [" ".join(words) for words in notes["wrong"]]


class Verdict:
    """What was wrong with a team, read by an independent loader, and what is only worth knowing.

    Attributes:
        failures: Promises that were broken.
        live: How many messages are in the queue.
        archived: How many are in the archives.
        unseen: How many were handed out without a receipt.
    """

    def __init__(self, found: Contents, receipts: Receipts) -> None:
        self._receipts = receipts
        self._live, self._archives = found.live, found.archives
        everything = [*self._live, *chain(*self._archives.values())]
        self._all = {str(message["message_id"]): message for message in everything}
        archived = _ids([*chain(*self._archives.values())]).keys()
        self.live, self.archived = len(self._live), len(archived)
        self.unseen = len(archived - {item for _, item in (*receipts.got, *receipts.acked)})
        self.failures = [*self._delivery(), *self._answers(), *found.broken]
        self.failures += [f"a child saw: {item}" for item in receipts.wrong]

    def _delivery(self) -> Iterator[str]:
        receipts, archived = self._receipts, {agent: _ids(page) for agent, page in self._archives.items()}
        yield from (f"lost: {item}" for item in sorted(receipts.sent - self._all.keys()))
        yield from _twice("delivered", receipts.got)
        yield from _twice("acknowledged", receipts.acked)
        for agent, counter in archived.items():
            yield from _twice(f"in the archive of {agent}", counter)
        for agent, item in (*receipts.got, *receipts.acked):
            if item not in archived.get(agent, ()):
                yield f"delivered to {agent} but not archived: {item}"
        for each in self._live:
            if each.get("status") == "claimed":
                yield f"claimed for ever: {each['message_id']}"
            if each.get("status") == "read" and each["message_id"] not in archived.get(str(each["to"]), ()):
                yield f"read but not archived: {each['message_id']}"

    def _answers(self) -> Iterator[str]:
        """Each plan is there, and answered at most once, never when a later one of its author was there already."""
        plans, answers = self._of_type("plan_approval_request"), self._of_type("plan_approval_response")
        answered = Counter(request for request, _ in answers)
        by_request = dict(plans)
        yield from _twice("answered", self._receipts.answered)
        yield from (f"answer lost: {item}" for item in self._receipts.answered if not answered[item])
        yield from (f"question lost: {item}" for item in self._receipts.asked - by_request.keys())
        yield from (f"{answered[item]} answers: {item}" for item in by_request if answered[item] > 1)
        for request, answer in answers:
            if plan := by_request.get(request):
                theirs = [later["created"] for _, later in plans if later["from"] == plan["from"]]
                if any(plan["created"] < later < answer["created"] for later in theirs):
                    yield f"answered though superseded: {request}"

    def _of_type(self, kind: str) -> list[tuple[str, Record]]:
        """Messages of a type, each with its request id."""
        found = [message for message in self._all.values() if message.get("type") == kind]
        return [(str((message.get("payload") or {}).get("request_id", "")), message) for message in found]


def _ids(messages: Sequence[Record]) -> Counter[str]:
    return Counter(str(message["message_id"]) for message in messages)


def _twice(what: str, counter: Counter[Any]) -> Iterator[str]:
    yield from (f"{what} {count} times: {item}" for item, count in counter.items() if count > 1)
