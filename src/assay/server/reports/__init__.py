"""The REST routes of what is stored: reports and what belongs to them, feedback, policies, and rules of retention."""
