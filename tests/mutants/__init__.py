"""Switches off one protection at a time, in a copy of the code, and asks whether a test notices."""
