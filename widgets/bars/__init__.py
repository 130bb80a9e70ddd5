"""Bars of one line: status, tabs, keys, banner."""
