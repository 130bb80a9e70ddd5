"""What the command line prints: output, tables, findings, changes and messages for people and programs."""
