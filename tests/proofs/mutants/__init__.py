"""Protections switched off one at a time: for each there is a test that notices."""
