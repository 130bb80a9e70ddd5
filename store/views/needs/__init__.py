"""What needs the human, ranked, with the rank explained."""
