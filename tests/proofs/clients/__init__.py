"""Real clients, Claude Code and Codex, driven by a scripted model inside a network of their own."""
