"""Preferences: the user's own `config.toml`, read, checked and explained."""
