"""The kinds of message: names, directions, bodies, templates, and what a team's settings add."""
