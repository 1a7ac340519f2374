"""Chat models by their official SDKs, and their answers as completions."""
