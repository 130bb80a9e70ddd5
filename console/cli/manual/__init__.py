"""The manual made from the code: JSON schemas, the reference of settings, completion scripts."""
