"""Agents: the roster, lifecycles, when each was last seen and what it last reported."""
