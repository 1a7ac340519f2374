"""The pages of the monitor: panels over time, and alerts."""
