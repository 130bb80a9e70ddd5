"""The start of a hook: what is imported for every event of a client, and so imports next to nothing itself."""
