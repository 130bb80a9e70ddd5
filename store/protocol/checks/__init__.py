"""Checks of what a message says, on sending and on reading: fields, bodies, summaries, secrets, signatures."""
