"""MCP servers: sessions with them, starter tasks for their tools, and a check of a server."""
