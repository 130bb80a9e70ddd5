"""Reusable Textual widgets: models in, messages out."""
