"""Settings of a team: read, checked, edited, written, trusted or not, and missed when they vanish."""
