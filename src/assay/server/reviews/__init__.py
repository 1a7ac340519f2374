"""The review queue over REST, and what follows a decision: an edited text is checked, a released one gets a receipt."""

from typing import Final

MOST_WAIT_S: Final = 900.0
"""The longest that one request waits for a reviewer's decision, in seconds."""
