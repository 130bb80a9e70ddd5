"""Processes that use one team at once while they are killed, stopped and hindered; judged from receipts alone."""
