"""Rows: a virtual list, and how each kind of row looks."""
