"""Recovery: what the next lock holder finishes, undoes and heals, and the ledger it goes by."""
