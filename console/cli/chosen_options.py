"""Options chosen on the command line: `LABEL`, a number, or `HEADER=LABEL` where several questions were asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from team_console.store.model.errors import Code, TeamError
from team_console.store.model.names import nearest
from team_console.store.protocol.client_requests import Question

Answers = dict[str, str | list[str]]


def answers_from(questions: Sequence[Question], options: Iterable[str], texts: Iterable[str]) -> Answers:
    """Question text -> what was chosen or said.

    Args:
        options: Labels or numbers of options; of the n-th question, or the one with that header, as `n=LABEL` or
            `HEADER=LABEL`.
        texts: Own words, named in the same way where there are several questions.

    Raises:
        TeamError: `INVALID_FIELD` for an option nobody offered, with the nearest; `USAGE` where it does not say
            which question it answers.
    """
    chosen: dict[str, list[str]] = {}
    for word in options:
        question, label = _option(questions, word)
        chosen.setdefault(question.text, []).append(label)
    for word in texts:
        question, said = _said(questions, word)
        chosen.setdefault(question.text, []).append(said)
    several = {question.text for question in questions if question.several}
    return {text: words if text in several or len(words) > 1 else words[0] for text, words in chosen.items()}


def _option(questions: Sequence[Question], word: str) -> tuple[Question, str]:
    """The question an option belongs to and its label; a label that holds a `=` itself comes first."""
    offering = [question for question in questions if _label(question, word) is not None]
    if len(offering) == 1:
        return offering[0], _label(offering[0], word) or word
    named = _named(questions, word)
    if named is not None:
        question, rest = named
        label = _label(question, rest) or _numbered(question, rest)
        if label is None:
            raise _no_such_option((question,), rest)
        return question, label
    if len(offering) > 1:
        raise _which(questions, word)
    label = _numbered(questions[0], word) if len(questions) == 1 else None
    if label is None:
        raise _no_such_option(questions, word)
    return questions[0], label


def _said(questions: Sequence[Question], word: str) -> tuple[Question, str]:
    if len(questions) == 1:
        return questions[0], word
    named = _named(questions, word)
    if named is None:
        raise _which(questions, word)
    return named


def _named(questions: Sequence[Question], word: str) -> tuple[Question, str] | None:
    """What `HEADER=REST` or `2=REST` names."""
    key, sign, rest = word.partition("=")
    key = key.strip().casefold()
    if not sign or not key:
        return None
    for number, question in enumerate(questions, start=1):
        if key in (str(number), question.header.strip().casefold()):
            return question, rest.strip()
    return None


def _label(question: Question, word: str) -> str | None:
    """The label as the asker wrote it, however the word's letters are cased."""
    labels = [option.label for option in question.options]
    if word in labels:
        return word
    alike = [label for label in labels if label.casefold() == word.strip().casefold()]
    return alike[0] if len(alike) == 1 else None


def _numbered(question: Question, word: str) -> str | None:
    number = int(word) if word.isascii() and word.isdigit() and len(word) < 4 else 0
    return question.options[number - 1].label if 0 < number <= len(question.options) else None


def _no_such_option(questions: Sequence[Question], word: str) -> TeamError:
    labels = [option.label for question in questions for option in question.options]
    meant = nearest(word, labels)
    offered = f"Offered: {', '.join(labels):.300}." if labels else "It offers no options."
    guess = f"Did you mean {meant}? " if meant else ""
    return TeamError(Code.INVALID_FIELD, f"there is no option {word:.80}", f"{guess}{offered} Own words: --text WORDS.")


def _which(questions: Sequence[Question], word: str) -> TeamError:
    names = ", ".join(f"{question.header or number}=..." for number, question in enumerate(questions, start=1))
    return TeamError(Code.USAGE, f"which question does {word:.80} answer?", f"Name it: {names}")
