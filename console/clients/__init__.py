"""Clients that real agents run in: what they tell through their hooks, what they are told, and how they join."""
