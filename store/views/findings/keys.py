"""Keys and settings that no human vouches for: somebody who may write the settings may have put them there."""

from __future__ import annotations

from collections.abc import Iterator

from team_console.store.model.problem import Problem
from team_console.store.model.recorded import RecordedFacts
from team_console.store.protocol.verdicts.keys_on_record import fingerprint, keys_of_humans, unsigned_confirmations
from team_console.store.settings.team_config import TeamConfig


def key_findings(config: TeamConfig, recorded: RecordedFacts | None) -> Iterator[Problem]:
    """`KEY_NOT_ON_RECORD` for keys the trail never saw, `KEY_TAKEN_UNSIGNED` for those no known key vouches for.

    `SIGNING_GIVEN_UP` where verdicts were signed and need not be any more, `SETTINGS_TAKEN_UNSIGNED` for settings that
    asked less or were lost, and were confirmed by no key on record. `AUDIT_LOST` where the trail began anew. What the
    trail of the team said for good that this one was copied from, under the same codes.
    """
    if config.verdicts != "signed" and recorded is not None and recorded.has_signed:
        text = "verdicts of humans were signed here, and the settings do not ask for that any more"
        hint = "If none of you wanted that, put humans and verdicts: signed back, and look at the decisions since."
        yield Problem("SIGNING_GIVEN_UP", "warning", "verdicts", text, hint)
    for line in recorded.losses if recorded is not None else ():
        text = "the audit trail was lost before this line: which keys and settings were known then, it cannot say"
        hint = "Compare it with a copy. Look whether the settings are yours, and at the decisions since."
        yield Problem("AUDIT_LOST", "warning", f"audit.jsonl, line {line}", text, hint)
    for confirmation in unsigned_confirmations(recorded):
        text = "settings that gave up what was in force were confirmed without a signature of a human's key on record"
        hint = f"Line {confirmation.line} of the audit trail says when and by whom; ask them, and look at what changed."
        yield Problem("SETTINGS_TAKEN_UNSIGNED", "warning", f"audit trail, line {confirmation.line}", text, hint)
    for line, code, text in recorded.carried if recorded is not None else ():
        hint = "It was so before the team was copied here; look at the decisions of that time."
        yield Problem(code, "warning", f"audit trail, line {line}", f"where this team was copied from: {text}", hint)
    for keys in keys_of_humans(config, recorded):
        name, place = keys.human.name, f"humans.{keys.human.name}.keys"
        for key in keys.unknown:
            text = f"a key of {name} is not on record: {fingerprint(key)} has signed nothing here, nor was it taken in"
            hint = f"If it is {name}'s: team-console check --accept-keys; else take it out of the settings."
            yield Problem("KEY_NOT_ON_RECORD", "warning", place, text, hint)
        for key, line in keys.unsigned:
            text = f"a key of {name} was taken on record without a signature of one that was known: {fingerprint(key)}"
            hint = f"Ask {name} whether it is theirs; line {line} of the audit trail says when and by whom."
            yield Problem("KEY_TAKEN_UNSIGNED", "warning", place, text, hint)
