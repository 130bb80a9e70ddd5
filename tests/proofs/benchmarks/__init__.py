"""Speed against peers on one machine in one run: `python -m tests.proofs.benchmarks`."""
