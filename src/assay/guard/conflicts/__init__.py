"""Sources that disagree, and sources that give way to others."""
