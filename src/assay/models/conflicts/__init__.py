"""The network that tells conflicts of two sources from texts that only look so."""
