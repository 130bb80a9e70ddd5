"""The kinds of message, one module per protocol family."""
