"""Committing: nothing reaches a sink without a receipt."""
