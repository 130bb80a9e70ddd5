"""Protections of verdicts: who gave them, over what, and what was really shown."""

from __future__ import annotations

from tests.proofs.mutants.line import Line

_TRUST = "store/protocol/verdicts.py"
_FORGED = "tests/trust/test_forgeries.py::test_no_forgery_decides_and_the_human_still_does"
_ONCE = "tests/trust/test_verified_once.py"
_HARDWARE = "tests/trust/test_hardware_keys.py"
_SHOWN = "tests/console/test_what_was_shown.py"
_KEYS = "tests/trust/test_keys_on_record.py"
_SEEN = "tests/desk/test_seen.py"
_REPAIR = "store/service/maintenance.py"
_ACTING = "tests/cli/test_acting_as.py"
_AROUND = "tests/trust/test_forged_around.py"
_WHOLE = "tests/trust/test_shown_whole.py"

VERDICT_LINES = (
    Line(
        "that the trail was lost stays on record",
        "store/backends/yaml/commit.py",
        "said = {**line.facts, **lost}",
        "said = line.facts",
        (f"{_AROUND}::test_settings_that_came_with_the_loss_of_the_trail_are_told_for_good",),
    ),
    Line(
        "a turn that writes nothing forgets no loss of the trail",
        "store/backends/yaml/session.py",
        " and stands.lost is None:",
        ":",
        (f"{_AROUND}::test_settings_that_came_with_the_loss_of_the_trail_are_told_for_good",),
    ),
    Line(
        "settings that give something up are confirmed with a key",
        _REPAIR,
        "if config.lost and _has_keys(config) else {}",
        "if False else {}",
        (
            f"{_AROUND}::test_settings_in_which_another_leads_are_confirmed_with_the_key_of_the_human_and_not_without[yaml]",
        ),
    ),
    Line(
        "settings confirmed without a key on record are told",
        "store/protocol/keys_on_record.py",
        "if not first or fingerprint(by) not in known - unsigned.keys():",
        "if not by:",
        (f"{_AROUND}::test_a_key_put_there_for_it_confirms_no_settings",),
    ),
    Line(
        "a signature confirms the settings that were looked at",
        "store/settings/in_force.py",
        'if signed.get("sha256", digest(text)) != digest(text):',
        "if False:",
        (f"{_AROUND}::test_a_signature_confirms_the_settings_that_were_looked_at",),
    ),
    Line(
        "the first line of a content is left out only where it stands above",
        "console/cli/printing.py",
        'if not text_at(message.payload, "summary") and first.rstrip() == above:',
        'if not text_at(message.payload, "summary"):',
        (f"{_WHOLE}::test_a_first_line_that_its_title_cuts_is_shown_whole",),
    ),
    Line(
        "what decides is not covered by its namesake",
        "console/cli/printing.py",
        "        yield from _carried_lines(read)\n",
        "        fields = {**read.body, **fields}\n",
        (f"{_WHOLE}::test_a_field_beside_the_json_is_not_shown_in_place_of_what_decides",),
    ),
    Line(
        "a verdict of a human is signed",
        _TRUST,
        "if not must_be_signed(config, message.sender) or (kind is not None and kind.withdraws):",
        "if True:",
        (f"{_FORGED}[yaml-YAML edit-question]",),
    ),
    Line(
        "a signature is for one request",
        _TRUST,
        "if not trouble and asked is not None and signed.payload.get(REQUEST) != digest_of(asked):",
        "if False:",
        (f"{_FORGED}[yaml-no request-question]",),
    ),
    Line(
        "a signature is by a key of the human",
        "store/protocol/verdicts.py",
        "if parts.key not in {key_bytes(key) for key in keys}:",
        "if False:",
        (f"{_FORGED}[yaml-another key-question]",),
    ),
    Line(
        "a signature is for one purpose",
        "store/protocol/verdicts.py",
        "if parts.namespace != namespace.encode():",
        "if False:",
        (f"{_FORGED}[yaml-another purpose-permission]",),
    ),
    Line(
        "verified signatures are known by their bytes",
        "store/protocol/verdicts.py",
        '"\\0".join((text, signature, namespace, *keys))',
        "signature",
        (f"{_ONCE}::test_each_verdict_is_verified_once_and_again_only_when_a_byte_of_it_is_another",),
    ),
    Line(
        "signatures are worked out once",
        "store/protocol/verdicts.py",
        "        _known[digest] = trouble\n",
        "        pass\n",
        (f"{_ONCE}::test_each_verdict_is_verified_once_and_again_only_when_a_byte_of_it_is_another",),
    ),
    Line(
        "a hardware key was touched",
        "store/protocol/ssh.py",
        "and bool(self.rest[0] & _TOUCHED)",
        "",
        (f"{_HARDWARE}::test_a_key_that_nobody_touched_signs_nothing",),
    ),
    Line(
        "a hardware key was touched, without the library",
        "store/protocol/verdicts.py",
        "if parts.is_of_hardware and not parts.is_touched:",
        "if False:",
        (f"{_HARDWARE}::test_without_the_library_an_untouched_key_signs_nothing_either",),
    ),
    Line(
        "drop/ takes no verdicts",
        "store/backends/yaml/drop.py",
        "        if may_be_verdict(config, message):",
        "        if False:",
        ("tests/trust/test_open_verdicts.py::test_drop_takes_no_verdicts",),
    ),
    Line(
        "what changed while it was signed is not written",
        "store/service/signing.py",
        "if signed.payload.get(REQUEST) != digest or _said(made.message) != _said(signed):",
        "if False:",
        (
            "tests/trust/test_signed_verdicts.py::test_a_request_that_is_rewritten_while_its_verdict_is_signed_gets_none",
        ),
    ),
    Line(
        "an agent acts as no human",
        "console/cli/call.py",
        "if is_human(config, given) and not is_human(config, bound):",
        "if False:",
        (f"{_ACTING}::test_an_agent_does_not_rise_to_a_human",),
    ),
    Line(
        "whoever decides off a terminal is named",
        "console/cli/call.py",
        "if self.given_actor is None and not on_terminal:",
        "if False:",
        (f"{_ACTING}::test_off_a_terminal_whoever_decides_is_named",),
    ),
    Line(
        "what show printed is what is answered",
        "console/cli/call.py",
        "    if digest_of(question) != word:\n        raise ChangedError(call.options.request, question)\n",
        "",
        ("tests/cli/test_seen_word.py::test_a_request_that_is_not_what_was_shown_is_not_answered",),
    ),
    Line(
        "evidence beside a request in Inboxes",
        "console/modes/inboxes.py",
        "seen=around.seen if around is not None else None,",
        "seen=None,",
        (f"{_SHOWN}::test_an_approval_in_inboxes_shows_and_keeps_the_evidence",),
    ),
    Line(
        "a title is not taken for a text",
        "console/commands/deciding.py",
        "if shown else seen_title(row.question, safe_line(row.title, 200))",
        "if shown else Seen(digest_of(row.question), sha256='0' * 64)",
        (f"{_SHOWN}::test_of_several_each_keeps_whether_its_text_or_only_its_title_was_shown",),
    ),
    *(
        Line(
            f"a forged verdict decides nothing, in {face}",
            "store/protocol/judgement.py",
            "return objection(self.config, answer.message, question.message, recorded=self.recorded)",
            'return ""',
            (f"tests/trust/test_forged_in_faces.py::{test}",),
        )
        for face, test in (
            ("a hook", "test_a_hook_waits_on_for_the_human"),
            ("a wait", "test_a_wait_on_the_command_line_ends_with_nothing"),
            ("an MCP server", "test_an_mcp_server_says_that_it_waits"),
        )
    ),
    Line(
        "the key that signed is the human's",
        "store/service/signing.py",
        "    _refuse_other_key(signature, human)\n",
        "",
        ("tests/trust/test_signing_work.py::test_a_key_that_is_not_among_the_humans_keys_writes_no_verdict",),
    ),
    Line(
        "a key goes on record by its human or the lead",
        _REPAIR,
        "if actor not in (human, config.lead):",
        "if False:",
        (f"{_KEYS}::test_an_agent_takes_no_key_of_a_human_on_record",),
    ),
    Line(
        "a key goes on record by a known one",
        _REPAIR,
        "by = next((key for key in human.keys if key_bytes(key) == signer), None)",
        "by = human.keys[0]",
        (f"{_KEYS}::test_a_key_that_is_not_known_takes_none_on_record_while_a_known_one_is_there",),
    ),
    Line(
        "a key that nobody vouched for is told",
        "store/protocol/keys_on_record.py",
        "                unsigned[name] = acceptance.line\n",
        "                pass\n",
        (f"{_KEYS}::test_a_key_taken_on_record_in_place_of_a_lost_one_stays_among_the_findings",),
    ),
    Line(
        "a key that nobody vouched for vouches for none",
        "store/protocol/keys_on_record.py",
        "if fingerprint(key) in known - unsigned.keys()]",
        "if fingerprint(key) in known]",
        (f"{_KEYS}::test_a_key_without_a_voucher_vouches_for_no_other",),
    ),
    Line(
        "evidence is in the digest of what was shown",
        "store/protocol/seen.py",
        "whole = json.dumps([digest_of(question), others, pieces])",
        "whole = json.dumps([digest_of(question), others])",
        (f"{_SEEN}::test_everything_shown_is_in_the_digest_and_little_of_it_is_kept",),
    ),
    Line(
        "a former version that changed is shown again",
        "store/service/questions.py",
        "if not any(digest_of(message) == digest for message in tx.thread(other)):",
        "if False:",
        (f"{_SEEN}::test_another_former_version_beside_it_is_refused",),
    ),
)
