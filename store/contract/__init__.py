"""The contract every backend keeps: `Team`, `Transaction`, `Snapshot`, and what the audit trail knows."""
