"""The bodies of the check routes, and requests that are repeated under an idempotency key."""
