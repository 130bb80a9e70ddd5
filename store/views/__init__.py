"""Pure functions from messages to what a human looks at."""
