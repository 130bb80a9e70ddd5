"""Long-running proofs of the promises; their quick parts run with every test."""
