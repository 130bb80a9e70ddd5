"""Remedies: what a human can do about a message that is on its way or got stuck."""

from __future__ import annotations

from enum import StrEnum


class Remedy(StrEnum):
    """What can be done about a message that is on its way or got stuck."""

    RETRY = "retry"
    REDIRECT = "redirect"
    DISCARD = "discard"
    RECALL = "recall"
