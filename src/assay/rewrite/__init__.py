"""Making better outputs out of what was found: the revise loop. It knows interfaces only, and no model."""
