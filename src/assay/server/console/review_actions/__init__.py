"""The actions of reviewers: the second step of a decision, and assigning items."""
