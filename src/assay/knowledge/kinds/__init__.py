"""The kinds of sources, one module each: folders, SQL, HTTP, SPARQL, web search, MCP."""
