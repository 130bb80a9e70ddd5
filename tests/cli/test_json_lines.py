"""Documents on standard input: JSON lines end where JSON says so, not where Python cuts texts into lines."""

from __future__ import annotations

import json

import pytest
from team_console.console.cli.stdin import json_documents


@pytest.mark.parametrize("sign", ["\u2028", "\u2029", "\x85"], ids=["U+2028", "U+2029", "U+0085"])
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_a_text_with_a_line_separator_is_part_of_its_document(sign: str, end: str) -> None:
    documents = [{"content": f"one{sign}two"}, {"content": "three"}]
    text = "".join(json.dumps(document, ensure_ascii=False) + end for document in documents)
    assert json_documents(text, hint="") == documents
