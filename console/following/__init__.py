"""Following a store: when it is read, and what came of each reading."""
