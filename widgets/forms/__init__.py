"""Questions to the human: each keeps what was typed until the answer is written."""
