"""Settings file of a YAML team: read anew when it changed, and compared with what the ledger says was in force."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from store.backends.yamlteam.commit import LockedQueue
from store.backends.yamlteam.disk import Disk, Mark
from store.backends.yamlteam.files import write_new
from store.backends.yamlteam.layout import Layout
from store.backends.yamlteam.ledger import Ledger
from store.config import TeamConfig
from store.config_file import parse, read_text
from store.errors import Code, TeamError
from store.settings_loss import loss, loss_problem, lost_to
from store.team import Problem


class ReadSettings(Struct, frozen=True):
    """One look at the settings.

    Attributes:
        config: Those in force.
        mark: Which version of the file was read, None for none.
        problems: What is wrong with the file.
        text: What is in the file, None when there is none.
        in_force: The text that `config` was made from, None where that is not known.
        error: Why there is nothing to go by, None when there is.
        ledger: Which version of the ledger was asked; only known while the settings are lost.
    """

    config: TeamConfig
    mark: Mark | None
    problems: tuple[Problem, ...] = ()
    text: bytes | None = None
    in_force: bytes | None = None
    error: TeamError | None = None
    ledger: Mark | None = None


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
        mark, known = self._mark(), self._known
        if known is None or known.mark != mark or not self._is_settled(known):
            self._known = known = self._read(mark)
        return known

    def _is_settled(self, known: ReadSettings) -> bool:
        """Whether the same file means the same; of lost ones another process may have decided meanwhile."""
        if known.error is not None:
            return False
        return not known.config.lost or known.ledger == self._ledger_mark()

    def _read(self, mark: Mark | None) -> ReadSettings:
        path, text = self._layout.config, None
        try:
            text = read_text(path)
            config = TeamConfig() if text is None else parse(text, path)
        except TeamError as error:
            return self._unreadable(mark, text, error)
        before = self._in_force(text)
        what = loss(text, before) if before is not None else ""
        if before is not None and what:
            problem = loss_problem(str(path), what)
            return self._lost(mark, text, before, problem) or ReadSettings(config, mark, (problem,), text)
        self._seen = text if text is not None else self._seen
        return ReadSettings(config, mark, _warnings(config), text, text)

    def _unreadable(self, mark: Mark | None, text: bytes | None, error: TeamError) -> ReadSettings:
        place = str(self._layout.config)
        problem = Problem("BAD_CONFIG", "error", place, error.message, error.hint)
        before = self._in_force(text)
        if before is not None and before != text:
            what = loss(text, before, is_read=False) if text is not None else ""
            told = loss_problem(place, what) if what else lost_to(problem)
            lost = self._lost(mark, text, before, told)
            if lost is not None:
                return lost
        last = self._known.config if self._known else TeamConfig()
        return ReadSettings(last, mark, (problem,), text, error=error)

    def _lost(self, mark: Mark | None, text: bytes | None, before: bytes, problem: Problem) -> ReadSettings | None:
        """What was in force, with what happened to it; None when that cannot be understood any more either."""
        try:
            config = parse(before, self._layout.config)
        except TeamError:
            return None
        lost = replace(config, lost=problem.message)
        return ReadSettings(lost, mark, (problem,), text, before, ledger=self._ledger_mark())

    def _in_force(self, text: bytes | None) -> bytes | None:
        """What was in force before: on record, or seen by this process since; None when nothing is known of it."""
        try:
            recorded = self._ledger.settings()
        except OSError:
            recorded = None
        if recorded is not None and recorded == (text or b""):
            return recorded
        return self._seen if self._seen is not None else recorded

    def _mark(self) -> Mark | None:
        try:
            found = self._disk.stat(self._layout.config)
        except OSError:
            return None
        return found.mark if found else None

    def _ledger_mark(self) -> Mark | None:
        try:
            found = self._disk.stat(self._layout.audit)
        except OSError:
            return None
        return found.mark if found else None


def put_back(queue: LockedQueue, text: bytes) -> str:
    """Write `text` as the settings, durable; returns the name under which what was there is kept, "" for nothing.

    Raises:
        TeamError: `STORE_FAILED`, with what was there still in its place or kept under another name.
    """
    disk, path = queue.disk, queue.layout.config
    staged = path.with_name(f"{path.name}.new-{queue.stamp()}")
    try:
        there = disk.stat(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_new(disk, staged, text, mode=there.mode if there is not None else queue.generation.mode)
        aside = path.with_name(f"{path.name}.lost-{queue.stamp()}") if there is not None else None
        if aside is not None:
            disk.rename(path, aside)
        disk.rename(staged, path)
        disk.sync_folder(path.parent)
    except OSError as error:
        why = f"{error.filename or path}: {error.strerror or error}; the settings were not put back"
        raise TeamError(Code.STORE_FAILED, why, "Look into the cause and repeat it.") from error
    return aside.name if aside is not None else ""


def refuse_unreadable(layout: Layout, settings: ReadSettings) -> None:
    """Refuse to confirm settings that nobody can understand.

    Raises:
        TeamError: `STORE_UNREADABLE` naming file, line and key.
    """
    if settings.error is not None:
        raise settings.error
    if settings.text is not None:
        parse(settings.text, layout.config)


def _warnings(config: TeamConfig) -> tuple[Problem, ...]:
    return tuple(Problem("CONFIG_WARNING", "warning", "messenger-config.yaml", text) for text in config.warnings)
