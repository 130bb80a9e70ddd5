"""The plain things all else is made of: messages, names, times, errors, safe text."""
