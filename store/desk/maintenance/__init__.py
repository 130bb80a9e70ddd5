"""Maintenance: clearing, compaction, repair, and moving a team to another place."""
