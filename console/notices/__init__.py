"""Notices: how the user is told of new decisions while looking elsewhere."""
