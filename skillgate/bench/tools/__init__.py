"""Connections to MCP servers, through the SDK of the protocol."""
