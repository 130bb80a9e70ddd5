"""Sessions of clients: what their hooks write, and what is written for those that are gone."""
