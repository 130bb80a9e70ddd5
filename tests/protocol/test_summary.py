"""Summaries are counted in words of any script; the source's good examples pass and its bad ones warn."""

from __future__ import annotations

from team_console.store.protocol.free_text import summary_warnings


def test_how_long_a_text_without_spaces_is_cannot_be_told_and_is_not() -> None:
    assert summary_warnings("ขออนุมัติแผนงานสำหรับรายงานประจำเดือนนี้", language="any") == []
    assert summary_warnings("ขออนุมัติแผน", language="zh") == ["summary: it is not in the team's language (zh)"]
