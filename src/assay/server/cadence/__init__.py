"""What a server does by the clock beside its requests: turns of the monitor, the judge, the golden set, the budget."""
