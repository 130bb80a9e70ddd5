"""The clients of agents: how each joins and leaves, what its hooks tell and ask, what a shell command does."""
