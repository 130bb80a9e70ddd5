"""Answers to requests: the question found, the answer made, signed and written once."""
