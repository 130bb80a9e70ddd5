"""Keys: the actions they stand for, the order they take effect in, and what they act on."""
