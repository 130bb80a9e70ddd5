"""Settings file of a YAML team: read anew when it changed, and compared with what the ledger says was in force."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace
from team_console.store.backends.yaml.disk import Disk, Mark
from team_console.store.backends.yaml.layout import Layout
from team_console.store.backends.yaml.recovery.ledger import Ledger
from team_console.store.model.errors import TeamError
from team_console.store.model.problem import Problem
from team_console.store.settings.loss import loss, loss_problem, lost_to, misread_problems, refuse_misread
from team_console.store.settings.problems import SETTINGS_UNREADABLE, config_problems
from team_console.store.settings.settings_file import parse, read_text, stamp, with_trust
from team_console.store.settings.team_config import TeamConfig


class ReadSettings(Struct, frozen=True):
    """One look at the settings.

    Attributes:
        config: Those in force.
        mark: Which versions of the file and of the key it names were read, and who may write them.
        problems: What is wrong with the file.
        text: What is in the file, None when there is none.
        in_force: The text that `config` was made from, None where that is not known.
        error: Why there is nothing to go by, None when there is.
        ledger: Which version of the ledger was asked; only known while the settings are lost.
    """

    config: TeamConfig
    mark: tuple[int, ...]
    problems: tuple[Problem, ...] = ()
    text: bytes | None = None
    in_force: bytes | None = None
    error: TeamError | None = None
    ledger: Mark | None = None

    @property
    def to_record(self) -> bytes | None:
        """The text to put on record with a change; None while there is none or those in force are lost."""
        return None if self.error is not None or self.config.lost or self.config.is_misread else self.text


class SettingsFile:
    """Reads the settings of one team."""

    def __init__(self, disk: Disk, layout: Layout) -> None:
        self._disk = disk
        self._layout = layout
        self._ledger = Ledger(disk, layout.audit)
        self._known: ReadSettings | None = None
        self._seen: bytes | None = None

    def look(self) -> ReadSettings:
        """The settings as they are now; while they are lost or cannot be read, those in force before."""
        known = self._known
        mark = self._mark(known)
        if known is None or known.mark != mark or not self._is_stable(known):
            known = self._read(mark)
            if (again := self._mark(known)) != mark:  # it names another key, whose mark was not taken before
                known = self._read(again)
            self._known = known
        return known

    def _is_stable(self, known: ReadSettings) -> bool:
        """Whether the same file means the same; of lost ones another process may have decided meanwhile."""
        if known.error is not None:
            return False
        return not known.config.lost or known.ledger == self._ledger_mark()

    def _read(self, mark: tuple[int, ...]) -> ReadSettings:
        path, text = self._layout.config, None
        try:
            text = read_text(path)
            config = TeamConfig() if text is None else with_trust(parse(text, path), path)
        except TeamError as error:
            return self._unreadable(mark, text, error)
        before = self._in_force(text)
        what = loss(text, before, is_read=not config.is_misread) if before is not None else ""
        problems = misread_problems(config, str(path)) if config.is_misread else config_problems(config, str(path))
        if before is not None and (what or (config.is_misread and before != text)):
            told = (loss_problem(str(path), what),) if what else (lost_to(problems[0]), *problems[1:])
            return self._lost(mark, text, before, told) or ReadSettings(config, mark, told, text)
        self._seen = text if text is not None and not config.is_misread else self._seen
        return ReadSettings(config, mark, problems, text, text)

    def _unreadable(self, mark: tuple[int, ...], text: bytes | None, error: TeamError) -> ReadSettings:
        place = str(self._layout.config)
        problem = Problem(SETTINGS_UNREADABLE, "error", place, error.message, error.hint)
        before = self._in_force(text)
        if before is not None and before != text:
            what = loss(text, before, is_read=False) if text is not None else ""
            told = loss_problem(place, what) if what else lost_to(problem)
            lost = self._lost(mark, text, before, (told,))
            if lost is not None:
                return lost
        last = self._known.config if self._known else TeamConfig()
        return ReadSettings(last, mark, (problem,), text, error=error)

    def _lost(
        self, mark: tuple[int, ...], text: bytes | None, before: bytes, problems: tuple[Problem, ...]
    ) -> ReadSettings | None:
        """What was in force, with what happened to it; None when that cannot be understood any more either."""
        try:
            config = parse(before, self._layout.config)
        except TeamError:
            return None
        # Its commands come out of the ledger now: who can write that would have them run.
        lost = replace(with_trust(config, self._layout.audit), lost=problems[0].sentence)
        return ReadSettings(lost, mark, problems, text, before, ledger=self._ledger_mark())

    def _in_force(self, text: bytes | None) -> bytes | None:
        """What was in force before: on record, or seen by this process since; None when nothing is known of it."""
        try:
            recorded = self._ledger.settings()
        except OSError:
            recorded = None
        if recorded is not None and recorded == (text or b""):
            return recorded
        return self._seen if self._seen is not None else recorded

    def _mark(self, known: ReadSettings | None) -> tuple[int, ...]:
        try:
            found = self._disk.stat(self._layout.config)
        except OSError:
            found = None
        key = known.config.key_path if known is not None else None
        marks = (found.mark if found else None, stamp(self._layout.config), stamp(key) if key is not None else None)
        return tuple(number for mark in marks for number in (mark or (0,)))

    def _ledger_mark(self) -> Mark | None:
        try:
            found = self._disk.stat(self._layout.audit)
        except OSError:
            return None
        return found.mark if found else None


def refuse_unreadable(layout: Layout, settings: ReadSettings) -> None:
    """Refuse to confirm settings that nobody can understand.

    Raises:
        TeamError: `STORE_UNREADABLE` naming file, line and key.
    """
    if settings.error is not None:
        raise settings.error
    if settings.text is not None:
        refuse_misread(parse(settings.text, layout.config), str(layout.config))
