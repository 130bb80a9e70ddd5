"""Details: one thing shown whole, scrolled."""
