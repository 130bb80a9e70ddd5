"""The ledger of decisions: who decided what, on what, and what of it can be proved."""
