"""Races of a request that changes against a human who approves it: nobody approves what was not on the screen."""
