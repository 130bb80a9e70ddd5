"""Make the title of a message or request, the same wherever it is shown, and tell what an answer said.

Last: what is wrong with a summary that somebody wrote.
"""

from __future__ import annotations

import re
from unicodedata import category

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


# Summaries that a list shows badly: length in words of any script, greetings, language.

FEWEST_WORDS, MOST_WORDS = 5, 10
"""Bounds in words."""
_WORDS_OF_SEVEN_HAN = 5
"""Chinese does not part its words, and a dictionary would be needed to count them: most have two characters, those that
join them one. With seven characters for five words the good examples of seed 001 section 4.1 (6 to 11 characters) and
`请查询今天所有任务的状态` (12 characters, 7 words) pass, and its bad one of 15 characters, which has 11 words, is too
long (001-f). Too short is only what has fewer than five characters: each can be a word."""

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_ASCII_WORD = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9]|[-'./:@#][A-Za-z0-9])*")
_HAN = f"[{_CJK}]"
_WORD = rf"{_HAN}|[^\W_{_CJK}](?:[^\W_{_CJK}]|[-'’./:@#][^\W_{_CJK}])*"
_UNSPACED = "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]"
"""Thai, Lao, Burmese and Khmer are written without spaces: how many words a text has cannot be seen from it."""
_JOINERS = "\u200c\u200d"
"""Persian and Hindi write them between the letters of one word."""
_GREETINGS = frozenset(
    (
        *("hi", "hello", "hey", "dear", "greetings", "good", "morning", "afternoon", "evening", "day", "there"),
        *("all", "team", "everyone", "everybody", "thanks", "thank", "you", "please"),
    )
)
_CJK_GREETING = "(?:你好|您好|大家好|早上好|下午好|晚上好|各位|谢谢|嗨|哈喽)[啊呀吗了]?"


def split_words(text: str) -> list[str]:
    """Split `text` into runs of letters and digits (`TASK-001`), and single Han characters and kana.

    Marks upon letters, vowels of Hindi or accents that stand by themselves, belong to the word they are in.
    """
    return _ASCII_WORD.findall(text) if text.isascii() else re.findall(_WORD, _without_marks(text))


def count_words(text: str) -> int:
    """Count the words of `text`; those in Han characters and kana are estimated."""
    parts = split_words(text)
    han = 0 if text.isascii() else sum(re.match(_HAN, part) is not None for part in parts)
    return len(parts) - han - (-han * _WORDS_OF_SEVEN_HAN // 7)


def _without_marks(text: str) -> str:
    """Return a text without accents and vowels that are signs of their own, and without joiners."""
    return "".join(sign for sign in text if sign not in _JOINERS and category(sign)[0] != "M")


def summary_warnings(summary: str, *, language: str) -> list[str]:
    """Return the faults of a summary as a list preview; never a reason to refuse it (decision D9).

    Args:
        language: The team's: `zh` wants Han characters, `en` wants none, `any` takes both.
    """
    has_han = not summary.isascii() and re.search(_HAN, summary) is not None
    words = split_words(summary)
    found = _length_warnings(summary, len(words))
    if words and _only_greets(summary, words):
        found.append("summary: it only greets; say what the message is about")
    if (language == "zh" and not has_han) or (language == "en" and has_han):
        found.append(f"summary: it is not in the team's language ({language})")
    return found


def _length_warnings(summary: str, parts: int) -> list[str]:
    """Return the warning that a summary is too short or too long, where its words can be counted."""
    if not summary.isascii() and re.search(_UNSPACED, summary) is not None:
        return []
    words = count_words(summary)
    if parts < FEWEST_WORDS:
        says = {0: "no words say", 1: "1 word says"}.get(words, f"{words} words say")
        return [f"summary: {says} too little; use {FEWEST_WORDS}-{MOST_WORDS}"]
    return (
        [f"summary: {words} words are too long for a list; use {FEWEST_WORDS}-{MOST_WORDS}"]
        if words > MOST_WORDS
        else []
    )


def _only_greets(summary: str, words: list[str]) -> bool:
    """Return whether every word of a summary belongs to a greeting, in English or Chinese."""
    if not summary.isascii():
        words = split_words(re.sub(_CJK_GREETING, " ", summary))
    return all(word.casefold() in _GREETINGS for word in words)
