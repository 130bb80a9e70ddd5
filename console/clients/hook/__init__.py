"""The hook proper: what follows from an event of a client that needs something."""
