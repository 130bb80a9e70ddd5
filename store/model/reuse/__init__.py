"""Values that are made once, when they are first needed, and used again."""
