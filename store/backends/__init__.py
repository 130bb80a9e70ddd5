"""Where a team lives: one package per way of storing it."""
