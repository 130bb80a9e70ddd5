"""What the screen says of the team: its state, tabs, themes and the wording of toasts."""
