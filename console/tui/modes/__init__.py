"""The places of the console: a list each, with what it shows beside it."""
