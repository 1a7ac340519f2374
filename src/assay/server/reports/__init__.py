"""The REST routes of what is remembered: reports and what belongs to them, feedback, policies, rules of retention."""
