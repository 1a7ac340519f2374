"""Sources of knowledge, a file a kind: folders, SQL, HTTP, SPARQL, web search, MCP."""
