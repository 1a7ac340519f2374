"""Reports of checks and evaluations as text and as HTML."""
