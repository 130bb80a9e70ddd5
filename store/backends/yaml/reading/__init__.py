"""Reading without the lock: snapshots, archives, the audit trail, change notice."""
