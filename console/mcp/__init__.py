"""MCP server of a team: an agent of any MCP client takes part in it through tools, resources and a prompt."""
