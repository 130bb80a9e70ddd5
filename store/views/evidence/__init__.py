"""Evidence beside a decision: what a human should know of a request that its words alone do not prove."""
