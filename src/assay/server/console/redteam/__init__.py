"""The pages of the red team: the trend, one run with its conversations, and proposals for the approved suite."""
