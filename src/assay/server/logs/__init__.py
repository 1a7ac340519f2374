"""The log of a server: its form and level, the id of the request that a line is about, and no secrets in it."""
