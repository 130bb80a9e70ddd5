"""Verdicts of humans: which messages are some, what is signed of them, and which of them decide."""
