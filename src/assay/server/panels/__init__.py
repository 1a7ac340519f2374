"""What changes over time, for people and programs: panels over sketches, the six metrics, alerts."""
