"""Settings in force, judged from what is there now and what was in force before: the same for files and databases."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.model.errors import Code, Problem, TeamError
from team_console.store.settings.team_config import (
    LOST_SETTINGS_HINT,
    SETTINGS_LOST,
    SETTINGS_UNREADABLE,
    TeamConfig,
    config_problems,
    misread_problems,
)


def settings_record(text: bytes) -> dict[str, Any]:
    """Return the trail's record of settings in force: the text, so that it can be restored, and its digest."""
    try:
        return {"sha256": text_digest(text), "text": text.decode()}
    except UnicodeDecodeError:
        return {"sha256": text_digest(text)}


def recorded_text(record: Mapping[str, Any]) -> bytes | None:
    """Return the text that `settings_record` kept, None when it is not there or not what it was."""
    text = record.get("text")
    data = text.encode("utf-8", "replace") if isinstance(text, str) else None
    return data if data is not None and text_digest(data) == record.get("sha256") else None


def text_digest(text: bytes) -> str:
    """Return the SHA-256 of a text in hexadecimal."""
    return hashlib.sha256(text).hexdigest()


class SettingsInForce(Struct, frozen=True):
    """The settings that count, and the text that is there, as one look found them.

    Attributes:
        config: Those in force; while they are lost or cannot be read, those in force before.
        problems: What is wrong with what is there.
        text: What is there now, None when nothing is.
        text_in_force: The text that `config` was made from, None where that is not known.
        error: Why there is nothing to go by, None when there is.
        parsed: What `text` says; None where it could not be understood.
        place: How a finding names the place of `text`.
        number: Grows with every change that was seen.
    """

    config: TeamConfig
    problems: tuple[Problem, ...] = ()
    text: bytes | None = None
    text_in_force: bytes | None = None
    error: TeamError | None = None
    parsed: TeamConfig | None = None
    place: str = ""
    number: int = 0

    @property
    def to_record(self) -> bytes | None:
        """The text that is to be on record with the next change; None where it is not in force."""
        is_in_force = self.text_in_force == self.text and not self.config.lost and not self.config.is_misread
        return self.text if is_in_force else None

    def usable_config(self) -> TeamConfig:
        """Return the settings. Raises `TeamError`: why there are none to go by."""
        if self.error is not None:
            raise self.error
        return self.config

    def text_to_confirm(self, signed: Mapping[str, Any]) -> bytes:
        """Return the text that is there, to be taken for the one in force from now on.

        Args:
            signed: What is known of the signature that confirms it, as for `Team.accept_settings`.

        Raises:
            TeamError: `STORE_UNREADABLE`, with its line, when it does not say who leads and who is a member;
                `NOT_PERMITTED` when the signature is of another text.
        """
        config = self.parsed
        if config is None or config.is_misread or not config.is_yaml:
            reasons = self.problems if config is None else misread_problems(config, self.place)
            hint = "Correct it first, or put back what was in force."
            raise TeamError(Code.STORE_UNREADABLE, reasons[0].sentence, hint)
        text = self.text or b""
        # guard: signature-names-settings
        if signed.get("sha256", text_digest(text)) != text_digest(text):
            words = "the settings changed while they were being confirmed; nothing was written"
            raise TeamError(Code.NOT_PERMITTED, words, "Look at them again, and repeat it.")
        return text

    def text_for_next_look(self, before: bytes | None) -> bytes | None:
        """Return the text in force by which a later look judges what is there then: this one, else as `before`."""
        return before if self.to_record is None else self.text


class SettingsNames(Struct, frozen=True):
    """How findings name the settings: where a line is wrong, where they are lost, where they cannot be read."""

    line: str
    lost: str
    unread: str


def judge_settings(
    text: bytes | None,
    parsed: TeamConfig | TeamError,
    *,
    before: bytes | None,
    last: TeamConfig,
    understand: Callable[[bytes], TeamConfig],
    names: SettingsNames,
) -> SettingsInForce:
    """Return the settings that count, and what is wrong.

    Args:
        parsed: What `text` says (defaults for none), or why it says nothing.
        before: The text in force before, None when nothing is known of it.
        last: The settings to go on with where neither text can be understood.
        understand: Makes settings of the text in force before; raises `TeamError`.
    """
    # What is there now, and what was in force before, where that is another text and can be understood.
    error = parsed if isinstance(parsed, TeamError) else None
    config = last if isinstance(parsed, TeamError) else parsed
    config_before = _parse_or_none(before, understand) if before is not None and before != text else None
    lost = loss_words(text, parsed, before or b"", config_before) if config_before is not None else ""
    if error is not None:
        problems: tuple[Problem, ...] = (
            Problem(SETTINGS_UNREADABLE, "error", names.unread, error.message, error.hint),
        )
    elif config.is_misread:
        problems = misread_problems(config, names.line)
    else:
        problems = config_problems(config, names.line)
    is_misread = error is not None or config.is_misread
    # guard: broken-settings-stay-off-the-record
    if not (lost or is_misread or config.is_yaml):
        # What somebody is still typing: the last settings that parse stay in force, and no write records these.
        if config_before is None or not config_before.is_yaml:
            return SettingsInForce(config, problems, text)
        return SettingsInForce(config_before, problems, text, before)
    if config_before is None or not (lost or is_misread):  # nothing was lost, or nothing is known to go back to
        return SettingsInForce(config, problems, text, None if error is not None else text, error)
    # What is there does not count: the settings of before stay in force, and a finding says why.
    if lost:
        sentence = f"{names.lost} {lost}, though it held the settings of the team"
        findings: tuple[Problem, ...] = (Problem(SETTINGS_LOST, "error", names.lost, sentence, LOST_SETTINGS_HINT),)
    else:
        findings = (replace(problems[0], hint=f"{problems[0].hint} {LOST_SETTINGS_HINT}".strip()), *problems[1:])
    # guard: only-what-parses-is-put-back
    put_back = before if config_before.is_yaml else None
    kept = replace(config_before, lost=findings[0].sentence, unconfirmed=text_digest(text or b""))
    return SettingsInForce(kept, findings, text, put_back)


def _parse_or_none(text: bytes, understand: Callable[[bytes], TeamConfig]) -> TeamConfig | None:
    """Return the settings that a text says; None where it cannot be understood."""
    try:
        return understand(text)
    except TeamError:
        return None


# The text that is there and the one on record, read wherever a kind of team keeps them.


class StoredSettings(Protocol):
    """The settings as a kind of team stores them, at one moment."""

    @property
    def names(self) -> SettingsNames:
        """How findings name their place."""

    def mark(self, key: Path | None) -> object:
        """Return another value whenever they, the `key` that they name, or who may write them may be another."""

    def text(self) -> bytes | None:
        """Return their text, None when there is none. Raises `TeamError`: it cannot be read."""

    def understand(self, text: bytes, *, on_record: bool = False) -> TeamConfig:
        """Return the settings in a text, out of their place or off the trail. Raises `TeamError`: it is no text."""

    def digest_on_record(self) -> str:
        """Return the digest of the text that the audit trail has; empty where it has none."""

    def text_on_record(self) -> bytes | None:
        """Return that text, None where it is not there or not what it was."""


class SettingsReader:
    """Follows the settings of one team, held against those in force before; safe to use from several threads.

    Attributes:
        known: What was found last.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self.known = SettingsInForce(TeamConfig())
        self.restart()

    def restart(self) -> None:
        """Forget what was in force, which was of another team: it says nothing of what is there now."""
        with self._guard:
            self.known = SettingsInForce(TeamConfig(), number=self.known.number + 1)
            self._mark: object = None
            self._seen: bytes | None = None

    def look(self, stored: StoredSettings) -> SettingsInForce:
        """Return the settings now, with what is wrong with them; those in force before while they are lost."""
        with self._guard:
            mark = stored.mark(self.known.config.key_path)
            # Lost settings are read again in any case: another process may have confirmed them on the trail.
            if mark != self._mark or self.known.error is not None or self.known.config.lost:
                found = self._read(stored)
                mark_now = stored.mark(found.config.key_path)
                if mark_now != mark:  # they name another key, which has no mark yet
                    found, mark = self._read(stored), mark_now
                is_other = (found.config, found.problems) != (self.known.config, self.known.problems)
                self.known, self._mark = replace(found, number=self.known.number + is_other), mark
            return self.known

    def _read(self, stored: StoredSettings) -> SettingsInForce:
        """Read the text that is there and judge it by the one that was in force before."""
        text = None
        try:
            text = stored.text()
            parsed: TeamConfig | TeamError = TeamConfig() if text is None else stored.understand(text)
        except TeamError as error:
            parsed = error
        found = judge_settings(
            text,
            parsed,
            before=self._in_force_before(stored, text),
            last=self.known.config,
            understand=partial(stored.understand, on_record=True),
            names=stored.names,
        )
        self._seen = found.text_for_next_look(self._seen)
        return replace(found, parsed=parsed if isinstance(parsed, TeamConfig) else None, place=stored.names.line)

    def _in_force_before(self, stored: StoredSettings, text: bytes | None) -> bytes | None:
        """Return the text that was in force before, recorded or seen by this process; None when unknown."""
        if stored.digest_on_record() == text_digest(text or b""):
            return text or b""
        return self._seen if self._seen is not None else stored.text_on_record()


# What settings lost that were in force: cut short, without an authority, or asking less of verdicts.

_AUTHORITY = ("agents", "humans", "key_file", "lead", "team_id", "verdicts")
"""Settings that say who may do what."""


def loss_words(text: bytes | None, parsed: TeamConfig | TeamError, before: bytes, known: TeamConfig) -> str:
    """Return what settings lost that were in force, as the end of a sentence; empty when they were merely edited.

    Args:
        text: What is there now, None when nothing is.
        parsed: What `text` says, or why nobody can understand it; then its own error says more than this does.
        before: The text that was in force.
        known: What `before` says.
    """
    if not known.values:
        return ""
    if text is None:
        return "" if isinstance(parsed, TeamError) else "is gone"
    now = parsed if isinstance(parsed, TeamConfig) and parsed.is_yaml and not parsed.is_misread else None
    # guard: mended-settings-are-no-loss
    if now is not None and now.values and not known.is_yaml:
        return weakening_words(known, now)
    rest = text.rstrip(b"\0\r\n \t")
    if before.startswith(rest) and len(rest) < len(before.rstrip()):
        return "was cut short" if rest else "is empty"
    if now is None:
        return ""
    if not (now.values or now.problems):
        return "is empty"
    gone = [key for key in _AUTHORITY if key in known.values and key not in now.values]
    return f"says nothing of {' and '.join(gone)} any more" if gone else weakening_words(known, now)


# Settings that ask less of verdicts than those in force did: whoever may write them could let anybody decide.


def weakening_words(before: TeamConfig, after: TeamConfig) -> str:
    """Return what settings of signed verdicts gave up, as the end of a sentence about their text; empty for nothing."""
    if before.verdicts != "signed" or not any(human.keys for human in before.humans.values()):
        return ""
    return next(_weakenings(before, after), "")


def _weakenings(before: TeamConfig, after: TeamConfig) -> Iterator[str]:
    """Yield what `after` gave up of `before`, as ends of sentences."""
    if after.verdicts != "signed":
        yield "asks for no signed verdicts any more"
    if before.team_id and after.team_id != before.team_id:
        yield "gives the team another team_id"
    if after.lead != before.lead:
        yield f"makes {after.lead} the lead of a team whose verdicts are signed"
    if new := sorted(after.humans.keys() - before.humans.keys()):
        yield f"makes {new[0]} a human of a team whose verdicts are signed"
    if after.signed_since is not None and (before.signed_since is None or after.signed_since > before.signed_since):
        yield "takes more verdicts without a signature"
