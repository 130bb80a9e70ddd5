"""What humans, agents and routers do with a team: one function for each action, whatever face asks for it."""
