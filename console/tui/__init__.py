"""The screen: what is drawn, which keys act on it, and what is decided there."""
