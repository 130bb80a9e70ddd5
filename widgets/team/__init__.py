"""Team at a glance: the strip of agents that is always there, and the column of a broad screen."""
