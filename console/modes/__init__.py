"""console.modes."""
