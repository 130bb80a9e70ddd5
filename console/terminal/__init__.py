"""The terminal: what it is known to show, the fewest bytes to what it should show, and its keys."""
