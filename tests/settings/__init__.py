"""Settings of a team: read leniently, trusted by owner and mode, edited with their style kept, documented from code."""
