"""The red team of a server: runs that are recorded, proposals that people decide on, and schedules."""
