"""Options chosen on the command line: `LABEL`, a number, or `HEADER=LABEL` where several questions were asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from team_console.console.cli.call import UsageError
from team_console.store.model.errors import Code, TeamError
from team_console.store.model.names import hint_with_nearest
from team_console.store.protocol.client_requests import Question

Answers = dict[str, str | list[str]]
"""Text of a question -> what was chosen or said; a list where several options may be chosen, or were."""


def answers_from(questions: Sequence[Question], options: Iterable[str], texts: Iterable[str]) -> Answers:
    """Return question text -> what was chosen or said.

    Args:
        options: Labels or numbers of options; of the n-th question, or the one with that header, as `n=LABEL` or
            `HEADER=LABEL`.
        texts: Own words, named in the same way where there are several questions.

    Raises:
        TeamError: `INVALID_FIELD` for an option nobody offered, with the nearest; `USAGE` where it does not say
            which question it answers.
    """
    chosen: dict[str, list[str]] = {}  # text of a question -> labels and words
    for word in options:
        offering = [question for question in questions if _matching_label(question, word) is not None]
        if len(offering) == 1:  # a label that holds a `=` itself comes first
            question, rest = offering[0], word
        else:
            question, rest = _split_header(questions, word, is_offered=bool(offering))
        chosen.setdefault(question.text, []).append(_matching_label(question, rest) or _label_of_number(question, rest))
    for text, words in words_for(questions, texts).items():
        chosen.setdefault(text, []).extend(words)
    several = {question.text for question in questions if question.several}
    return {text: words if text in several or len(words) > 1 else words[0] for text, words in chosen.items()}


def words_for(questions: Sequence[Question], texts: Iterable[str]) -> dict[str, list[str]]:
    """Return question text -> words, each named as in `answers_from` where there are several questions.

    Raises:
        TeamError: `USAGE` where it does not say which question it is for.
    """
    found: dict[str, list[str]] = {}
    for word in texts if questions else ():
        question, rest = questions[0], word
        if len(questions) > 1:
            question, rest = _split_header(questions, word, is_offered=True)
        found.setdefault(question.text, []).append(rest)
    return found


def _split_header(questions: Sequence[Question], word: str, *, is_offered: bool) -> tuple[Question, str]:
    """Return the question and answer in `HEADER=REST` or `2=REST`; the only question where no header is given."""
    key, sign, rest = word.partition("=")
    key = key.strip().casefold()
    for number, question in enumerate(questions, start=1):
        if sign and key and key in (str(number), question.header.strip().casefold()):
            return question, rest.strip()
    if is_offered:
        names = ", ".join(f"{question.header or number}=..." for number, question in enumerate(questions, start=1))
        raise UsageError(f"which question does {word:.80} answer?", f"Name it: {names}")
    if len(questions) > 1:
        raise _no_such_option(questions, word)
    return questions[0], word


def _matching_label(question: Question, word: str) -> str | None:
    """Return the label as the asker wrote it, however the word's letters are cased; None for none, or several."""
    labels = [option.label for option in question.options]
    alike = [word] if word in labels else [label for label in labels if label.casefold() == word.strip().casefold()]
    return alike[0] if len(alike) == 1 else None


def _label_of_number(question: Question, word: str) -> str:
    """Return the label of the option with this number, as people count.

    Raises:
        TeamError: `INVALID_FIELD` where the word is no such number.
    """
    number = int(word) if word.isascii() and word.isdigit() and len(word) < 4 else 0
    if not 0 < number <= len(question.options):
        raise _no_such_option((question,), word)
    return question.options[number - 1].label


def _no_such_option(questions: Sequence[Question], word: str) -> TeamError:
    """Return the error for an option that nobody offered, with those that are offered."""
    labels = [option.label for question in questions for option in question.options]
    offered = f"Offered: {', '.join(labels):.300}." if labels else "It offers no options."
    hint = hint_with_nearest(word, labels, f"{offered} Own words: --content TEXT.")
    return TeamError(Code.INVALID_FIELD, f"there is no option {word:.80}", hint)
