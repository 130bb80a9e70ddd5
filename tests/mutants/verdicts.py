"""Protections of verdicts: who gave them, over what, and what was really shown."""

from __future__ import annotations

from tests.mutants.line import Line

_TRUST = "store/protocol/verdicts/trust.py"
_FORGED = "tests/trust/test_forgeries.py::test_no_forgery_decides_and_the_human_still_does"
_ONCE = "tests/trust/test_verified_once.py"
_HARDWARE = "tests/trust/test_hardware_keys.py"
_SHOWN = "tests/console/test_what_was_shown.py"
_ACTING = "tests/cli/test_acting_as.py"

VERDICT_LINES = (
    Line(
        "a verdict of a human is signed",
        _TRUST,
        "if not must_be_signed(config, message.sender) or (kind is not None and kind.withdraws):",
        "if True:",
        (f"{_FORGED}[yaml-YAML edit-permission]",),
    ),
    Line(
        "a signature is for one request",
        _TRUST,
        "if not trouble and asked is not None and signed.payload.get(REQUEST) != digest_of(asked):",
        "if False:",
        (f"{_FORGED}[yaml-replay-permission]",),
    ),
    Line(
        "a signature is by a key of the human",
        "store/protocol/verdicts/verification.py",
        "if parts.key not in {key_bytes(key) for key in keys}:",
        "if False:",
        (f"{_FORGED}[yaml-another key-permission]",),
    ),
    Line(
        "a signature is for one purpose",
        "store/protocol/verdicts/verification.py",
        "if parts.namespace != namespace.encode():",
        "if False:",
        (f"{_FORGED}[yaml-another purpose-permission]",),
    ),
    Line(
        "verified signatures are known by their bytes",
        "store/protocol/verdicts/verification.py",
        '"\\0".join((text, signature, namespace, *keys))',
        "signature",
        (f"{_ONCE}::test_each_verdict_is_verified_once_and_again_only_when_a_byte_of_it_is_another",),
    ),
    Line(
        "signatures are worked out once",
        "store/protocol/verdicts/verification.py",
        "        _known[digest] = trouble\n",
        "        pass\n",
        (f"{_ONCE}::test_each_verdict_is_verified_once_and_again_only_when_a_byte_of_it_is_another",),
    ),
    Line(
        "a hardware key was touched",
        "store/protocol/verdicts/ssh_signature.py",
        "and bool(self.rest[0] & _TOUCHED)",
        "",
        (f"{_HARDWARE}::test_a_key_that_nobody_touched_signs_nothing",),
    ),
    Line(
        "a hardware key was touched, without the library",
        "store/protocol/verdicts/verification.py",
        "if parts.is_of_hardware and not parts.is_touched:",
        "if False:",
        (f"{_HARDWARE}::test_without_the_library_an_untouched_key_signs_nothing_either",),
    ),
    Line(
        "drop/ takes no verdicts",
        "store/backends/yaml/writing/drop.py",
        "        if may_be_verdict(config, message):",
        "        if False:",
        ("tests/trust/test_open_verdicts.py::test_drop_takes_no_verdicts",),
    ),
    Line(
        "what changed while it was signed is not written",
        "store/desk/answering/signing.py",
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
        "console/cli/seen.py",
        "    if fingerprint(question) != word:\n        raise ChangedError(call.options.request, question)\n",
        "",
        ("tests/cli/test_seen_word.py::test_a_request_that_is_not_what_was_shown_is_not_answered",),
    ),
    Line(
        "evidence beside a request in Inboxes",
        "console/panes/inboxes.py",
        "seen=around.seen if around is not None else None,",
        "seen=None,",
        (f"{_SHOWN}::test_an_approval_in_inboxes_shows_and_keeps_the_evidence",),
    ),
    Line(
        "a title is not taken for a text",
        "console/handlers/many.py",
        "return shown or seen_title(row.question, safe_line(row.title, 200))",
        "return shown or Seen(requests.fingerprint(row.question), sha256='0' * 64)",
        (f"{_SHOWN}::test_of_several_each_keeps_whether_its_text_or_only_its_title_was_shown",),
    ),
)
