"""Make the title of a message or request, the same wherever it is shown, and tell what an answer said."""

from __future__ import annotations

import re

from team_console.store.model.message import Fields, Message, per_message, without
from team_console.store.protocol.client_requests import answers_text, denial_of, origin_of, permission_of, questions_of
from team_console.store.protocol.foreign_fields import mappings_in, text_in
from team_console.store.protocol.kinds import Family, RequestKind
from team_console.store.protocol.parsing import ParsedMessage, parse_message
from team_console.store.protocol.shown_when_decided import REQUEST_DIGEST, SHOWN, SHOWN_BY
from team_console.store.protocol.tool_input import headline_of, value_lines

_LONGEST = 200
"""Characters of a title."""
_REFERRING = frozenset({"request_id", "in_reply_to", "approve", "approved", "trust", REQUEST_DIGEST, SHOWN, SHOWN_BY})
"""Keys that say what a message belongs to and on what it rests, not what it is about."""
_TELLING = ("issue", "question", "message", "topic", "context_summary", "reason", "spec_id", "task_id")
"""Keys whose text says what a message without summary and content is about."""


def title_of(read: ParsedMessage) -> str:
    """Return the title of a message in one line: its own summary, its request, or its first words.

    Of a summary that only names the kind, as ours is for kinds whose sender gave none, nothing is said. The title of a
    permission is made of its tool and input, whatever the asker says of it.
    """
    # guard: title-of-tool-and-input
    if read.opens is RequestKind.PERMISSION:
        return _title_line(_request_title(read)) or read.name
    if read.opens is RequestKind.DESTROY and read.subject is not None:
        # Whoever asks is named beside it, and may ask for its own end or for that of another.
        stated = _own_summary(read)
        is_named = re.search(rf"(?<![\w.-]){re.escape(read.subject)}(?![\w-])", stated) is not None
        asked = _request_title(read)
        if stated and not is_named:
            stated = f"{asked}: {stated}"
        return _title_line(stated or asked)
    said = read.message.content.strip() if not read.carried else read.subject or ""
    return _title_line(_own_summary(read) or _request_title(read) or said or _telling_text(_fields(read))) or read.name


def _fields(read: ParsedMessage) -> Fields:
    """Return the fields that say something: of a sprint message those of its JSON, not the text that carries it."""
    return without(read.carried or {}, ("msg_type",)) or read.message.payload


@per_message
def message_title(message: Message) -> str:
    """Return the title of a message in one line, as `title_of` makes it; remembered with the message."""
    return title_of(parse_message(message))


def summary_of(message: Message) -> str:
    """Return what previews a message: its summary, else the first line of its content; of a permission its title."""
    read = parse_message(message)
    return title_of(read) if read.opens is RequestKind.PERMISSION else message.summary


def said_in(message: Message) -> str:
    """Say a message in one line: its summary as it is, else what it is about; of a verdict first yes or no."""
    read = parse_message(message)
    summary = trimmed_text_in(message.payload, "summary")
    if summary and read.opens is not RequestKind.PERMISSION:
        return summary
    title = title_of(read)
    if read.carried is not None or read.approve is None:
        return title
    verdict = f"{read.name}: {'yes' if read.approve else 'no'}"
    return verdict if title == read.name else f"{verdict}, {title}"


def verdict_reason(answer: Message) -> str:
    """Return the words of an answer: note, reason, feedback or result; empty without any."""
    read = parse_message(answer)
    if read.kind.family is Family.SPRINT:
        return _result_words(read)
    payload = answer.payload
    if read.opens is RequestKind.SHUTDOWN:  # it approves an end; what it says to the agent is no word to the asker
        return trimmed_text_in(payload, "note")
    if read.answers is RequestKind.QUESTION and read.approve:
        return answers_text(payload)
    return (
        trimmed_text_in(payload, "content")
        or trimmed_text_in(payload, "reason")
        or trimmed_text_in(payload, "feedback")
    )


def trimmed_text_in(body: Fields, key: str) -> str:
    """Return the text under `key` without blanks around it, empty when there is none."""
    return text_in(body, key).strip()


def _own_summary(read: ParsedMessage) -> str:
    """Return the summary without the kind it may begin with; empty when nothing else is in it.

    Kinds that are words of the language, such as notify, may begin a sentence and are left there.
    """
    stated = trimmed_text_in(read.message.payload, "summary")
    if stated.replace(" ", "_").casefold() == read.name.casefold():
        return ""
    rest = stated.removeprefix(read.name)
    if rest == stated or ("_" not in read.name and not rest.startswith(":") and rest != " for you"):
        return stated
    rest = rest.lstrip(" :")
    # What is left of such a summary may fit a creation and an end.
    return "" if _request_title(read) or rest == "for you" or rest.startswith("{") else rest


def _telling_text(payload: Fields) -> str:
    """Return the text of the field that tells most, or else the first field."""
    told = next((text for key in _TELLING if (text := trimmed_text_in(payload, key))), "")
    if told or not payload:
        return told
    key = next((key for key in payload if key not in _REFERRING), "")
    return next(value_lines({key: payload[key]}, 0)) if key else ""


def _request_title(read: ParsedMessage) -> str:
    """Return what a message asks for, by its kind; empty for one that opens no request."""
    body, subject = read.body, read.subject or ""
    match read.opens:
        case RequestKind.PLAN:
            return trimmed_text_in(body, "content")
        case RequestKind.SHUTDOWN:
            return trimmed_text_in(body, "content") or trimmed_text_in(body, "reason") or "Please stop"
        case RequestKind.CREATE:
            return f"Wants a {subject}"
        case RequestKind.DESTROY:
            return f"End {subject}"
        case RequestKind.ESCALATION:
            return trimmed_text_in(body, "issue")
        case RequestKind.CLARIFICATION:
            return trimmed_text_in(body, "question")
        case RequestKind.DEBUG:
            return trimmed_text_in(body, "error_summary")
        case RequestKind.BROWSER:
            return " ".join(filter(None, (trimmed_text_in(body, "operation"), trimmed_text_in(body, "url"))))
        case RequestKind.RESEARCH:
            return _first_inner_text(body, "queries", "query")
        case RequestKind.PERMISSION:
            denied = "Denied by the client: " if denial_of(body) else ""
            return denied + headline_of(permission_of(body), origin_of(body).directory)
        case RequestKind.QUESTION:
            return "; ".join(question.text for question in questions_of(body))
        case None:
            return ""


def _result_words(read: ParsedMessage) -> str:
    """Return what an answer of the sprint says, by its kind."""
    body = read.body
    if read.answers is RequestKind.DEBUG:
        return trimmed_text_in(body, "root_cause")
    if read.answers is RequestKind.BROWSER:
        return trimmed_text_in(body, "error") or trimmed_text_in(body, "status")
    if read.answers is RequestKind.RESEARCH:
        return _first_inner_text(body, "results", "summary") or _first_inner_text(body, "results", "status")
    return trimmed_text_in(body, "note") or trimmed_text_in(body, "agent_name")


def _first_inner_text(body: Fields, key: str, inner: str) -> str:
    """Return the text under `inner` in the first object of the list under `key`; empty without one."""
    return next((trimmed_text_in(first, inner) for first in mappings_in(body, key)), "")


def _title_line(text: str) -> str:
    """Return the first line of a text, cut where it is too long for a title."""
    line = text.strip().partition("\n")[0]
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
