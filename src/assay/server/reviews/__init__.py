"""Reviews over REST, and what a decision sets going: the edited text is checked, what is released gets a receipt."""
