"""What reviewers do beside reading: the second step of a decision, and handing items on."""
