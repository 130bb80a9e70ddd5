"""console.agents."""
