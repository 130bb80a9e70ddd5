"""A team in the `agent_message` table of seed 003, in SQLite or PostgreSQL."""
