"""What the adapters of agent frameworks are made of: the gate of a run, messages as steps."""
