"""The MCP server, driven by the SDK's own client."""
