"""The timed work of a server beside its requests: turns of the monitor, the judge, the golden set, the budget."""
