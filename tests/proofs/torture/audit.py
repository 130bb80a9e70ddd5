"""Judges a team after the torture from the receipts: what was acknowledged, and what is there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from team_console.store.backends.yaml.audit_log import FileReader
from team_console.store.backends.yaml.disk import Disk

_ARCHIVE = "-archive"


@dataclass(slots=True)
class Receipts:
    """Everything the children noted.

    Attributes:
        got: (agent, id) -> how often plain `receive` handed it out.
        screens: Consoles that were gone through until their line was lost.
        errors: Text of refusals -> how often; expected under torture.
        wrong: What a child saw that must not be.
    """

    sent: set[str] = field(default_factory=set)
    got: Counter[tuple[str, str]] = field(default_factory=Counter)
    acked: Counter[tuple[str, str]] = field(default_factory=Counter)
    asked: set[str] = field(default_factory=set)
    answered: Counter[str] = field(default_factory=Counter)
    screens: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Verdict:
    """What was wrong, and what is only worth knowing."""

    failures: list[str] = field(default_factory=list)
    unseen: int = 0
    archived: int = 0
    live: int = 0


def read_receipts(folder: Path) -> Receipts:
    """Collect the receipt files."""
    receipts = Receipts()
    for path in sorted(folder.iterdir()):
        for line in path.read_text().splitlines():
            kind, *words = line.split(" ")
            _take(receipts, kind, words)
    return receipts


def _take(receipts: Receipts, kind: str, words: list[str]) -> None:
    if kind == "sent":
        receipts.sent.update(words)
    elif kind in ("got", "acked"):
        counter = receipts.got if kind == "got" else receipts.acked
        counter.update((words[0], word) for word in words[1:] if word)
    elif kind == "asked":
        receipts.asked.update(words)
    elif kind == "answered":
        receipts.answered.update(words)
    elif kind == "screened":
        receipts.screens += 1
    elif kind == "error":
        receipts.errors[words[0]] += 1
    elif kind == "wrong":
        receipts.wrong.append(" ".join(words))


def judge(root: Path, receipts: Receipts, *, ledger: bool) -> Verdict:
    """Check every promise against the files, read by an independent loader."""
    verdict = Verdict()
    live = _messages(root / "message-queue.yaml")
    archives = dict(_archives(root))
    verdict.failures += [f"claimed for ever: {each['message_id']}" for each in live if each.get("status") == "claimed"]
    _check_presence(verdict, receipts, live, archives)
    _check_delivery(verdict, receipts, live, archives)
    _check_answers(verdict, receipts, live, archives)
    _check_files(verdict, root, ledger=ledger)
    verdict.failures += [f"a child saw: {item}" for item in receipts.wrong]
    return verdict


def _check_presence(
    verdict: Verdict, receipts: Receipts, live: list[dict[str, Any]], archives: dict[str, list[dict[str, Any]]]
) -> None:
    ids = Counter(str(message["message_id"]) for message in live)
    archived = {str(message["message_id"]) for messages in archives.values() for message in messages}
    verdict.live, verdict.archived = len(live), len(archived)
    lost = receipts.sent - set(ids) - archived
    verdict.failures += [f"lost: {item}" for item in sorted(lost)]
    verdict.failures += [f"in the queue {count} times: {item}" for item, count in ids.items() if count > 1]


def _check_delivery(
    verdict: Verdict, receipts: Receipts, live: list[dict[str, Any]], archives: dict[str, list[dict[str, Any]]]
) -> None:
    for name, handed in (("delivered", receipts.got), ("acknowledged", receipts.acked)):
        verdict.failures += [f"{name} {count} times: {item}" for item, count in handed.items() if count > 1]
    in_archive = {
        agent: Counter(str(message["message_id"]) for message in messages) for agent, messages in archives.items()
    }
    for agent, counter in in_archive.items():
        verdict.failures += [
            f"{count} times in the archive of {agent}: {item}" for item, count in counter.items() if count > 1
        ]
    for agent, message_id in (*receipts.got, *receipts.acked):
        if message_id not in in_archive.get(agent, ()):
            verdict.failures.append(f"delivered to {agent} but not archived: {message_id}")
    for each in live:
        if each.get("status") == "read" and each["message_id"] not in in_archive.get(str(each["to"]), ()):
            verdict.failures.append(f"read but not archived: {each['message_id']}")
    seen = {message_id for _, message_id in (*receipts.got, *receipts.acked)}
    read = {item for counter in in_archive.values() for item in counter}
    verdict.unseen = len(read - seen)


def _check_answers(
    verdict: Verdict, receipts: Receipts, live: list[dict[str, Any]], archives: dict[str, list[dict[str, Any]]]
) -> None:
    everything = {str(message["message_id"]): message for message in live}
    everything |= {str(message["message_id"]): message for messages in archives.values() for message in messages}
    answers: Counter[str] = Counter()
    asked: set[str] = set()
    for each in everything.values():
        request = str((each.get("payload") or {}).get("request_id", ""))
        answers[request] += each.get("type") == "plan_approval_response"
        asked |= {request} if each.get("type") == "plan_approval_request" else set()
    verdict.failures += [f"{answers[question]} answers: {question}" for question in asked if answers[question] > 1]
    verdict.failures += [f"answered {count} times: {item}" for item, count in receipts.answered.items() if count > 1]
    verdict.failures += [f"answer lost: {item}" for item in receipts.answered if not answers[item]]
    verdict.failures += [f"question lost: {question}" for question in receipts.asked - asked]
    verdict.failures += [f"answered though superseded: {request}" for request in _superseded(everything.values())]


def _superseded(messages: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Plans that were answered when a later one of the same author stood in their place already."""
    plans: dict[str, list[tuple[str, str]]] = {}
    answers: list[tuple[str, str]] = []
    authors: dict[str, str] = {}
    for message in messages:
        request, created = str((message.get("payload") or {}).get("request_id", "")), str(message.get("created", ""))
        if message.get("type") == "plan_approval_request":
            authors[request] = str(message["from"])
            plans.setdefault(authors[request], []).append((created, request))
        elif message.get("type") == "plan_approval_response":
            answers.append((created, request))
    for answered, request in answers:
        before = [plan for plan in plans.get(authors.get(request, ""), ()) if plan[0] < answered]
        if before and max(before)[1] != request and max(before)[0] > _asked(before, request):
            yield request


def _asked(plans: Iterable[tuple[str, str]], request: str) -> str:
    return max((created for created, name in plans if name == request), default="~")


def _check_files(verdict: Verdict, root: Path, *, ledger: bool) -> None:
    litter = [path.name for path in root.rglob("*") if ".tmp." in path.name]
    verdict.failures += [f"litter: {item}" for item in litter]
    if ledger:
        broken = [line.seq for line in FileReader(Disk(), root / "audit.jsonl").last(10**6)[::-1] if not line.intact]
        verdict.failures += [f"the chain of the ledger breaks at line {item}" for item in broken[:3]]
        modes = {
            path.stat().st_mode & 0o777 for path in (root / "message-queue.yaml", root / "message-queue.yaml.prev")
        }
        verdict.failures += [f"a mode became {mode:o}" for mode in modes - {0o644}]


def _archives(root: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for path in sorted((root / "archive").glob("*.yaml")):
        found.setdefault(path.name.partition(_ARCHIVE)[0], []).extend(_messages(path))
    yield from found.items()


def _messages(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    messages: list[dict[str, Any]] = (yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader) or {}).get("messages") or []
    return messages
