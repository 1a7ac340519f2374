"""The REST routes of the audit log, replays of checks, and the timers that sign the log and apply retention."""
