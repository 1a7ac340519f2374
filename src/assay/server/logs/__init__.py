"""The log of a server: its format and level, the request id of each line, and the redaction of secrets."""
