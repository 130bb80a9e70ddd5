"""Settings that ask less of verdicts than those in force did: whoever may write them could let anybody decide."""

from __future__ import annotations

from collections.abc import Iterator

from team_console.store.settings.team_config import TeamConfig


def weakening(before: TeamConfig, after: TeamConfig) -> str:
    """What settings of signed verdicts gave up, as the end of a sentence about their text; empty when nothing."""
    if before.verdicts != "signed" or not any(human.keys for human in before.humans.values()):
        return ""
    return next(_given_up(before, after), "")


def _given_up(before: TeamConfig, after: TeamConfig) -> Iterator[str]:
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
