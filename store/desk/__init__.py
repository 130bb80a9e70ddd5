"""The only writer: every action of agents and humans, each one transaction."""
