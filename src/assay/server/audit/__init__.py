"""The REST routes of the audit log, and the timers that sign it and apply the rules of retention."""
