"""The red team of a server: recorded runs, proposals for people to decide on, and schedules."""
