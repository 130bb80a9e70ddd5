"""store.service."""
