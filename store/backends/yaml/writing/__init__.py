"""Writing under the lock: transactions, commits, drop files, retention."""
