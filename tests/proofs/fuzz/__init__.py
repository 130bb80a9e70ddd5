"""Fuzzing of the queue's reader: broken and hostile files, read in child processes that may not die."""
