"""What is typed and chosen in: one line, several, options, and what of them stays in sight."""
