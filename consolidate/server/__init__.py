"""The memory as an MCP server: `consolidate serve`."""
