"""Say what settings lost that were in force: cut short, without an authority, or asking less of verdicts."""

from __future__ import annotations

from collections.abc import Iterator

from team_console.store.model.errors import TeamError
from team_console.store.settings.team_config import TeamConfig

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
