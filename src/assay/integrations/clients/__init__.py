"""The gate around clients of the official SDKs."""
