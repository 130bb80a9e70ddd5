"""console.clients."""
